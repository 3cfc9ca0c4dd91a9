"""The words of a conversation as requests and answers of a run."""

from typing import Any

import pytest

from aeond.facades.openai.conversations import flat, value_of
from aeond.facades.openai.parts import Said
from aeond_client.records.judgements import Question


def test_one_message_is_the_request() -> None:
    """A message alone is the text of the run as it stands; earlier ones come before it."""
    assert flat([Said("user", "do it")]) == "do it"
    text = flat([Said("system", "be kind"), Said("user", "a"), Said("agent", "b"), Said("user", "c")])
    assert text == (
        "Instructions: be kind\n\nThe conversation so far:\n\nUser: a\n\nAssistant: b\n\nThe request:\n\nc"
    )


@pytest.mark.parametrize(
    ("question", "said", "value"),
    [
        (Question("q", "s", "?", options=("red", "blue")), " Blue ", "blue"),
        (Question("q", "s", "?", options=("red", "blue")), "2", "blue"),
        (Question("q", "s", "?", options=("red", "blue")), "green", "green"),
        (Question("q", "s", "?"), "any words", "any words"),
        (Question("q", "s", "?", schema={"type": "integer"}), "7", 7),
        (Question("q", "s", "?", schema={"type": "integer"}), "seven", "seven"),
    ],
)
def test_words_answer_a_question(question: Question, said: str, value: Any) -> None:
    """An option may be named or numbered, and other types than text are read as JSON."""
    assert value_of(question, said) == value
