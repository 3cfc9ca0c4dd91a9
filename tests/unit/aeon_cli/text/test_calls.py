"""How a call that waits for approval is written out."""

from aeon_cli.text.calls import call_lines
from aeond_client.records.judgements import CallPreview
from aeond_client.records.tools import ToolCall

CALL = ToolCall("write_file", {"path": "report.txt", "content": "all is well\n" * 30})


def test_an_argument_that_no_diff_shows_is_shown_in_full() -> None:
    """Without a diff, or with an incomplete one, nothing of the arguments is left out."""
    lines = list(call_lines(CALL, CallPreview(diff="+a", problem="the diff is cut off")))
    assert '     | content: "' + "all is well\\n" * 30 + '"' in lines
    assert "     (not shown in full: the diff is cut off)" in lines


def test_a_long_argument_is_counted_where_the_diff_shows_it() -> None:
    """With the whole diff a long argument is not repeated, and a line of the diff cannot pass for another."""
    lines = list(call_lines(CALL, CallPreview(diff="+a\n     deletes: /b")))
    assert lines == [
        "     | content: 392 characters, see the diff",
        '     | path: "report.txt"',
        "     | +a",
        "     |      deletes: /b",
    ]
