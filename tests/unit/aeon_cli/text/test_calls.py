"""How a call that waits for approval is written out."""

import pytest

from aeon_cli.text.calls import approval_heading, call_lines, effect_sentences
from aeond_client.records.judgements import ApprovalRequest, CallPreview
from aeond_client.records.tools import ToolCall
from tests.support.effect_cases import EFFECT_CASES

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


@pytest.mark.parametrize(("preview", "sentence"), EFFECT_CASES)
def test_the_effect_of_a_call_is_a_sentence(preview: CallPreview, sentence: str) -> None:
    """An approval is headed by the effect of its call, which the preview of the tool has."""
    calls = (ToolCall("send", {"to": "Ada"}),)
    one = ApprovalRequest("a1", ("s1",), calls, "digest", previews=(preview,))
    assert (effect_sentences(one), approval_heading(one)) == ([sentence], f"{sentence}?")


def test_an_approval_of_several_calls_is_headed_by_their_number() -> None:
    """Several calls have a sentence each, also without previews, and the heading counts them."""
    calls = (ToolCall("send", {}), ToolCall("post\n", {}))
    one = ApprovalRequest("a1", ("s1", "s2"), calls, "digest")
    assert (effect_sentences(one), approval_heading(one)) == (
        ["Use the tool send", "Use the tool post"],
        "Allow 2 calls?",
    )
