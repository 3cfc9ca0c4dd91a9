"""The edit of a file, and the difference that it makes."""

import difflib
from collections.abc import Sequence
from typing import Final

from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_COMPARED_LINES: Final = 5_000


@frozen
class Edit:
    """The content after an edit, and what the edit did, in a few words with the changed lines."""

    content: bytes
    change: str


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
