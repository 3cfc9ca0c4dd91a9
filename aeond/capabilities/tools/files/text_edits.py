"""Edits of text: replaces one place, or adds lines. The rest of a file stays as it is, byte for byte.

Bytes that are no UTF-8 pass through unchanged. The line breaks of the file are used for new lines.
"""

import difflib
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.domain.names import folded
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_SHOWN_LINES: Final = 3
MAX_LINE_CHARS: Final = 200
MAX_NAMED: Final = 5
MAX_COMPARED_LINES: Final = 5_000
_ALIKE: Final = 0.5

# Formats in which a backslash has no meaning: prose and tables.
_PROSE: Final = frozenset({"", ".txt", ".md", ".csv", ".tsv", ".log", ".org", ".rst"})
_ESCAPED_BREAKS: Final = re.compile(r"(?:[^\\]|(?<![:\\])\\n)*")
_MARKER: Final = re.compile(r"\s*(?:[-*+\u2022]|\d+[.)])?\s*(?:\[[ xX]?\])?\s*")
_MAX_MARKER_CHARS: Final = 80
_PUNCTUATION: Final = " \t.,;:"


@frozen
class Edit:
    """The content after an edit, and what the edit did, in a few words with the changed lines."""

    content: bytes
    change: str


def with_line_breaks(text: str, path: str) -> str:
    r"""The text with each `\n` that is written as two characters made a line break, if it can only be meant so.

    Small models escape twice. It can only be meant so in a text without any line break, all of whose backslashes
    belong to such an `\n` (none after a colon, as in `C:\new`), for a file of prose or a table: in source code
    and data formats the two characters have a meaning.
    """
    prose = PurePosixPath(path).suffix.lower() in _PROSE
    if not prose or "\n" in text or not _ESCAPED_BREAKS.fullmatch(text):
        return text
    return text.replace("\\n", "\n")


def replace_text(content: bytes, old: str, new: str, path: str) -> Edit:
    """Replaces the one place where `old` is found; an empty `new` removes it, with its line if nothing else is left.

    `old` is found exactly, else with other spacing and case. Of several places the one that is a whole word or a
    whole line counts. Raises ToolError with field `old`: TEXT_NOT_FOUND, with the nearest lines as candidates, or
    TEXT_AMBIGUOUS, with the lines; NOT_TEXT.
    """
    text = _decoded(content, path)
    old, new = with_line_breaks(old, path), _broken_like(text, with_line_breaks(new, path))
    if new and not new.endswith("\n"):
        old = old.rstrip("\r\n")  # the line keeps its end
    if not old.strip():
        raise ToolError("`old` is empty: give the text to replace", reason="TEXT_NOT_FOUND", field="old")
    start, end = _only_place(text, old, path)
    if new == "":
        start, end = _whole_line(text, start, end)
        gone = text[start:end]
        changed = text[:start] + text[end:]
        return Edit(_encoded(changed), f"removed: {_shown(gone)}")
    changed = text[:start] + new + text[end:]
    return Edit(_encoded(changed), f"now: {_shown(_lines_around(changed, start, start + len(new)))}")


def append_lines(content: bytes, addition: str, path: str) -> Edit:
    """Adds the text on lines of its own at the end, whether or not the content ends with a line break."""
    text = _decoded(content, path)
    added = _broken_like(text, with_line_breaks(addition, path))
    line_break = _line_break(text)
    before = "" if not text or text.endswith("\n") else line_break
    after = "" if added.endswith("\n") else line_break
    return Edit(_encoded(text + before + added + after), f"added: {_shown(added)}")


def unified_diff(before: bytes | None, after: bytes, path: str) -> str:
    """The change of a file as a unified diff; None stands for a file that does not exist. ToolError (NOT_SHOWN) for
    binary content and for more than MAX_COMPARED_LINES lines."""
    old, new = ((before or b"").splitlines(keepends=True), after.splitlines(keepends=True))
    if b"\0" in (before or b"") + after or max(len(old), len(new)) > MAX_COMPARED_LINES:
        raise ToolError(
            f"no diff of {path!r:.200}: it is binary or has more than {MAX_COMPARED_LINES} lines",
            reason="NOT_SHOWN",
        )
    names = ("/dev/null" if before is None else f"a/{path}", f"b/{path}")
    lines = difflib.unified_diff(_shown_lines(old), _shown_lines(new), *names)
    return "".join(lines)


def _shown_lines(lines: Sequence[bytes]) -> list[str]:
    ended = "\n\\ No newline at end of file\n"
    texts = [line.decode("utf-8", "backslashreplace") for line in lines]
    return [text if text.endswith("\n") else text + ended for text in texts]


def _decoded(content: bytes, path: str) -> str:
    if b"\0" in content:
        raise ToolError(f"{path!r:.200} is not a text file", reason="NOT_TEXT", field="path")
    return content.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _broken_like(text: str, new: str) -> str:
    return new.replace("\r\n", "\n").replace("\n", _line_break(text))


def _only_place(text: str, old: str, path: str) -> tuple[int, int]:
    found = _places(text, re.escape(old), 0)
    if not found:
        words = r"\s+".join(map(re.escape, old.split()))
        found = _places(text, words, re.IGNORECASE)
    if not found:
        raise _not_found(text, old, path)
    for narrower in (_is_word, _is_line):
        if len(found) > 1:
            found = [place for place in found if narrower(text, *place)] or found
    if len(found) > 1:
        raise _ambiguous(text, old, found)
    return found[0]


def _places(text: str, pattern: str, flags: int) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(pattern, text, flags)]


def _is_word(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (
        after.isalnum() and text[end - 1].isalnum()
    )


def _is_line(text: str, start: int, end: int) -> bool:
    first, last = _line_bounds(text, start, end)
    left, right = text[first:start], text[end:last]
    marked = len(left) <= _MAX_MARKER_CHARS and _MARKER.fullmatch(left) is not None
    return marked and not right.strip(_PUNCTUATION + "\r\n")


def _line_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """From the start of the first line to the end of the last one, with its line break."""
    first = text.rfind("\n", 0, start) + 1
    if end > start and text[end - 1] == "\n":
        return first, end
    last = text.find("\n", end)
    return first, len(text) if last < 0 else last + 1


def _whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    return _line_bounds(text, start, end) if _is_line(text, start, end) else (start, end)


def _lines_around(text: str, start: int, end: int) -> str:
    first, last = _line_bounds(text, start, end)
    return text[first:last]


def _shown(lines: str) -> str:
    shown = [line.strip()[:MAX_LINE_CHARS] for line in lines.strip("\r\n").splitlines()]
    more = [f"and {len(shown) - MAX_SHOWN_LINES} more lines"] if len(shown) > MAX_SHOWN_LINES else []
    plain = "\n".join([*shown[:MAX_SHOWN_LINES], *more])
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


def _ambiguous(text: str, old: str, found: Sequence[tuple[int, int]]) -> ToolError:
    lines = [_shown(_lines_around(text, *place)) for place in found]
    return _failure(
        f"{old!r:.100} is in {len(found)} places: give more of the line",
        "TEXT_AMBIGUOUS",
        lines,
        "; they are: ",
    )


def _failure(problem: str, reason: str, lines: Sequence[str], linking: str) -> ToolError:
    few = tuple(dict.fromkeys(_shown(line) for line in lines))[:MAX_NAMED]
    listed = linking + " | ".join(few) if few else ""
    return ToolError(problem + listed, reason=reason, field="old", candidates=few)
