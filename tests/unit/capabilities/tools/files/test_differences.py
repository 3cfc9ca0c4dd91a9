"""Differences of files."""

import pytest

from aeond.capabilities.tools.files.differences import MAX_COMPARED_LINES, unified_diff
from aeond.errors import ToolError


def test_a_change_is_shown_with_the_names_of_the_file() -> None:
    """The difference has the lines taken out and added, and says where the file has no line break at its end."""
    assert unified_diff(b"a\nb\n", b"a\nc", "x.txt") == (
        "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    )
    assert unified_diff(None, b"a\n", "x.txt").startswith("--- /dev/null\n")


@pytest.mark.parametrize("content", [b"a\0b", b"a\n" * (MAX_COMPARED_LINES + 1)])
def test_binary_and_long_files_are_not_compared(content: bytes) -> None:
    """Content that a person could not read as a difference is refused."""
    with pytest.raises(ToolError) as refused:
        unified_diff(b"", content, "x")
    assert refused.value.reason == "NOT_SHOWN"
