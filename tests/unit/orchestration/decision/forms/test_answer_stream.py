import json

import pytest

from aeond.orchestration.decision.forms.answer_stream import AnswerStream


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize("text", ['Say "hi"\n\tto \\ Zoë 😀 now', "plain", "{}"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_text_of_an_answer_is_streamed_as_it_is_written(
    size: int, text: str, *, ascii_only: bool
) -> None:
    """However the JSON is cut into pieces, the decoded text arrives whole and in order."""
    shown: list[str] = []
    stream = AnswerStream(shown.append)
    written = json.dumps({"answer": text}, ensure_ascii=ascii_only)
    for start in range(0, len(written), size):
        stream.feed(written[start : start + size])
    assert "".join(shown) == text


def test_other_actions_stay_hidden() -> None:
    """The arguments of a call are not an answer."""
    shown: list[str] = []
    stream = AnswerStream(shown.append)
    stream.feed('{"write_file":{"path":"a","content":"{\\"answer\\":\\"x\\"}"}}')
    assert shown == []


def test_a_model_that_begins_again_takes_its_text_back() -> None:
    """An empty piece discards the text, and what follows is shown from the start."""
    shown: list[str] = []
    stream = AnswerStream(shown.append)
    for piece in ('{"answer":"On', "", '{"answer":"Two"}'):
        stream.feed(piece)
    assert shown == ["On", "", "Two"]
