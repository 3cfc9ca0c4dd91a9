"""Places in a text: the one that words name, its lines, and how they are shown."""

import difflib
import re
from collections.abc import Sequence
from typing import Final

from aeond.capabilities.tools.editing.sections import line_in_section, named_lines
from aeond.capabilities.tools.files.differences import MAX_COMPARED_LINES
from aeond.domain.names import folded
from aeond.errors import ToolError

MAX_SHOWN_LINES: Final = 3
MAX_LINE_CHARS: Final = 200
MAX_NAMED: Final = 5
_ALIKE: Final = 0.5
_MARKER: Final = re.compile(r"\s*(?:[-*+\u2022]|\d+[.)])?\s*(?:\[[ xX]?\])?\s*")
_MAX_MARKER_CHARS: Final = 80
_PUNCTUATION: Final = " \t.,;:"


def only_place(text: str, old: str, path: str) -> tuple[int, int]:
    """Where the text has this part: the line of settings that is named with its section, or what is there exactly, else with other spacing and case. Of several places the one that is a whole word or a whole line
    counts. Raises ToolError: TEXT_NOT_FOUND, with the nearest lines as candidates; TEXT_AMBIGUOUS, with the lines."""
    if (named := line_in_section(text, old, path)) is not None:
        return named
    found = _places(text, re.escape(old), 0)
    if not any(_is_word(text, *place) for place in found):
        pattern = r"\s+".join(map(re.escape, old.split()))
        others = _places(text, pattern, re.IGNORECASE)
        words = [place for place in others if _is_word(text, *place)]
        # A part of another word is not meant by a single one, in scripts that set words apart.
        one_word = old.isalnum() and (old.isdigit() or old.lower() != old.upper())
        found = words or ([] if one_word else found or others)
    if not found:
        raise _not_found(text, old, path)
    for narrower in (_is_word, _is_line):
        if len(found) > 1:
            found = [place for place in found if narrower(text, *place)] or found
    if len(found) > 1:
        raise _ambiguous(text, old, found, path)
    return found[0]


def _places(text: str, pattern: str, flags: int) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(pattern, text, flags)]


def _is_word(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (
        after.isalnum() and text[end - 1].isalnum()
    )


def _is_line(text: str, start: int, end: int) -> bool:
    first, last = line_bounds(text, start, end)
    left, right = text[first:start], text[end:last]
    marked = len(left) <= _MAX_MARKER_CHARS and _MARKER.fullmatch(left) is not None
    return marked and not right.strip(_PUNCTUATION + "\r\n")


def line_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """From the start of the first line to the end of the last one, with its line break."""
    first = text.rfind("\n", 0, start) + 1
    if end > start and text[end - 1] == "\n":
        return first, end
    last = text.find("\n", end)
    return first, len(text) if last < 0 else last + 1


def whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    """The line, if nothing else of it would be left but a list marker or punctuation; else the place itself."""
    return line_bounds(text, start, end) if _is_line(text, start, end) else (start, end)


def lines_around(text: str, start: int, end: int) -> str:
    first, last = line_bounds(text, start, end)
    return text[first:last]


def shown(lines: str) -> str:
    """A few of the lines, shortened."""
    kept = [line.strip()[:MAX_LINE_CHARS] for line in lines.strip("\r\n").splitlines()]
    more = [f"and {len(kept) - MAX_SHOWN_LINES} more lines"] if len(kept) > MAX_SHOWN_LINES else []
    plain = "\n".join([*kept[:MAX_SHOWN_LINES], *more])
    return plain.encode("utf-8", "replace").decode()


def _not_found(text: str, old: str, path: str) -> ToolError:
    lines = list(dict.fromkeys(filter(None, map(str.strip, text.splitlines()))))[:MAX_COMPARED_LINES]
    by_form = {folded(line): line for line in lines}
    close = difflib.get_close_matches(folded(old.strip()), list(by_form), MAX_NAMED, _ALIKE)
    sharing = sorted(lines, key=lambda line: -_shared_words(old, line))
    near = [by_form[form] for form in close] or [line for line in sharing if _shared_words(old, line)]
    return _failure(
        f"{path!r:.200} does not contain {old!r:.100}", "TEXT_NOT_FOUND", near or lines, "; it has: "
    )


def _shared_words(old: str, line: str) -> int:
    return len(set(folded(old).split()) & set(folded(line).split()))


def _ambiguous(text: str, old: str, found: Sequence[tuple[int, int]], path: str) -> ToolError:
    names = named_lines(text.split("\n"), path)
    around = [shown(lines_around(text, *place)) for place in found]
    named = [shown(names[text.count("\n", 0, start)]) for start, _ in found]
    lines = [line if "\n" in line else name for line, name in zip(around, named, strict=True)]
    more = "give more of the line" if lines == around else "give its section as well"
    return _failure(
        f"{old!r:.100} is in {len(found)} places: {more}", "TEXT_AMBIGUOUS", lines, "; they are: "
    )


def _failure(problem: str, reason: str, lines: Sequence[str], linking: str) -> ToolError:
    few = tuple(dict.fromkeys(shown(line) for line in lines))[:MAX_NAMED]
    listed = linking + " | ".join(few) if few else ""
    return ToolError(problem + listed, reason=reason, field="changes", candidates=few)
