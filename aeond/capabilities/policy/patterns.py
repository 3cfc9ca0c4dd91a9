"""Compiles the patterns of rules. `*` matches any characters within a part, `**` any number of parts.

No regular expressions: the time of a test is bounded by the product of the lengths, whatever text a call contains.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Final

from aeond.frozen import frozen

MAX_PATTERN_CHARS: Final = 512

NameTest = Callable[[str], bool]

_ANY_PARTS: Final = "**"


@frozen
class PathPattern:
    """A pattern of absolute paths. One that is `relative` matches below the workspace only. `literal` are its parts up to
    the first wildcard, `required` all parts without one.

    A path that ends in a slash stands for a folder and everything below it.
    """

    tests: tuple[NameTest | None, ...]
    literal: tuple[str, ...]
    required: frozenset[str]
    relative: bool

    def matches(self, path: str, workspace: str) -> bool:
        """Whether it matches the path; for a folder with everything below it, whether it matches any of that."""
        parts = _parts(path, workspace if self.relative else "/")
        if parts is None:
            return False
        if not path.endswith("/"):
            return not self.required.difference(parts) and _matches(self.tests, parts)
        shared = min(len(parts), len(self.literal))
        return parts[:shared] == self.literal[:shared]

    def covers(self, path: str, workspace: str) -> bool:
        """Whether it matches the path; for a folder with everything below it, whether it matches all of that."""
        parts = _parts(path, workspace if self.relative else "/")
        everything_below = self.tests[-1] is None
        above = self.relative and not path.startswith(workspace)
        if parts is None or above or (path.endswith("/") and not everything_below):
            return False
        return self.required.issubset(parts) and _matches(self.tests, parts)


class PathPatterns:
    """Several patterns, tested together."""

    def __init__(self, patterns: Sequence[PathPattern]) -> None:
        self._patterns = tuple(patterns)
        some = [next(iter(pattern.required), "") for pattern in patterns]
        self._hints = frozenset(some) if all(some) else None

    def match(self, path: str, workspace: str) -> bool:
        """Whether one of them matches the path, as `PathPattern.matches`."""
        if path.endswith("/"):
            return any(pattern.matches(path, workspace) for pattern in self._patterns)
        parts, names = _named_parts(path, "/")
        if self._hints is not None and self._hints.isdisjoint(names):
            return False  # most rules do not concern a path: a policy may have many of them
        below, names_below = _named_parts(path, workspace)
        for pattern in self._patterns:
            found, named = (below, names_below) if pattern.relative else (parts, names)
            if pattern.required <= named and found is not None and _matches(pattern.tests, found):
                return True
        return False


@lru_cache(maxsize=256)
def _named_parts(path: str, root: str) -> tuple[tuple[str, ...] | None, frozenset[str]]:
    """The parts of the path below a root, and these as a set."""
    parts = _parts(path, root)
    return parts, frozenset(parts or ())


@lru_cache(maxsize=256)
def _parts(path: str, root: str) -> tuple[str, ...] | None:
    """The parts of the path below a root; None outside it. A folder above the root contains all of it."""
    if not root:
        return None
    bare, above = path.rstrip("/"), root.rstrip("/")
    if bare == above:
        return ()
    if bare.startswith(f"{above}/"):
        return tuple(part for part in bare[len(above) + 1 :].split("/") if part)
    return () if path.endswith("/") and f"{above}/".startswith(f"{bare}/") else None


def name_test(pattern: str) -> NameTest:
    """A test of a whole name, in which `*` matches any characters. ValueError for an unusable pattern."""
    _check(pattern)
    first, *pieces = pattern.split("*")
    if not pieces:
        return lambda name: name == pattern
    *middle, last = pieces
    least = len(first) + len(last)

    def test(name: str) -> bool:
        if len(name) < least or not name.startswith(first) or not name.endswith(last):
            return False
        place, end = len(first), len(name) - len(last)
        for piece in middle:  # the leftmost place leaves the most room for the rest
            found = name.find(piece, place, end)
            if found < 0:
                return False
            place = found + len(piece)
        return True

    return test


def path_pattern(pattern: str) -> PathPattern:
    """Compiles a pattern of paths; one without a leading slash is relative to the workspace. `folder/**` matches the
    folder and everything below it. ValueError for an unusable pattern."""
    _check(pattern)
    parts = pattern.strip("/").split("/")
    if any(part in ("", ".", "..") or (_ANY_PARTS in part and part != _ANY_PARTS) for part in parts):
        raise ValueError(f"{pattern!r} must consist of parts such as src/**/*.py, without . and ..")
    tests = tuple(None if part == _ANY_PARTS else name_test(part) for part in parts)
    literal = tuple(takewhile(lambda part: "*" not in part, parts))
    required = frozenset(part for part in parts if "*" not in part)
    return PathPattern(tests, literal, required, not pattern.startswith("/"))


def host_test(pattern: str) -> NameTest:
    """A test of `host:port`; a pattern without a port matches every port."""
    return name_test(pattern.casefold() if ":" in pattern else f"{pattern.casefold()}:*")


def _check(pattern: str) -> None:
    if not 0 < len(pattern) <= MAX_PATTERN_CHARS or "\0" in pattern:
        raise ValueError(f"a pattern must have 1 to {MAX_PATTERN_CHARS} characters and no NUL")


def _matches(tests: Sequence[NameTest | None], parts: Sequence[str]) -> bool:
    """Whether the parts fit; None stands for any number of parts. Only the last of these is ever tried again."""
    test, part = 0, 0
    retry_test, retry_part = -1, 0
    while part < len(parts):
        one = tests[test] if test < len(tests) else lambda _name: False
        if one is None:
            retry_test, retry_part = test + 1, part
            test += 1
        elif one(parts[part]):
            test, part = test + 1, part + 1
        elif retry_test >= 0:
            retry_part += 1
            test, part = retry_test, retry_part
        else:
            return False
    return all(one is None for one in tests[test:])
