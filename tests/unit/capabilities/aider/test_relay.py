"""The relay between Aider and the daemon's model."""

from typing import Any

import pytest

from aeond.capabilities.aider.relay import ANSWER_TOKENS, Relay
from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.domain.messages import Role

HELLO = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]}


def relay(**rule: Any) -> tuple[Relay, ScriptedLLM]:
    llm = ScriptedLLM(Script.model_validate({"rules": [rule]}))
    return Relay(llm), llm


async def test_a_request_is_answered_in_its_form() -> None:
    """Messages, length and temperature reach the model; the answer has its text and its tokens."""
    one, llm = relay(text="Hi")
    status, body = await one.answer({**HELLO, "max_tokens": 9, "temperature": 0.5, "model": "any"})
    assert (status, body["choices"][0]["message"]["content"]) == (200, "Hi")
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + 1
    (asked,) = llm.requests
    assert [message.role for message in asked.messages] == [Role.SYSTEM, Role.USER]
    assert (asked.max_tokens, asked.temperature) == (9, 0.5)
    await one.answer({**HELLO, "max_tokens": 1 << 30})
    assert llm.requests[-1].max_tokens == ANSWER_TOKENS


async def test_an_answer_can_be_streamed() -> None:
    """The pieces come before the answer, which is the same as without them."""
    one, _ = relay(text="one two three")
    pieces: list[str] = []

    async def show(text: str) -> None:
        pieces.append(text)

    status, body = await one.answer({**HELLO, "stream": True}, show)
    assert (status, body["choices"][0]["message"]["content"]) == (200, "one two three")
    assert len(pieces) > 1
    assert "".join(pieces) == "one two three"
    assert body["usage"]["completion_tokens"] == 3


async def test_a_cut_answer_says_so() -> None:
    """An answer that reached its length is marked."""
    one, _ = relay(text="one two three four five")
    _, body = await one.answer({**HELLO, "max_tokens": 2})
    assert body["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"messages": []},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        {**HELLO, "stream": True},
        {**HELLO, "max_tokens": 0},
    ],
)
async def test_other_forms_are_refused(body: Any) -> None:
    """A request of another form is an error that clients do not repeat."""
    one, llm = relay(text="Hi")
    status, answer = await one.answer(body)
    assert (status, answer["error"]["code"], one.refusals) == (400, "REQUEST_INVALID", ["REQUEST_INVALID"])
    assert list(llm.requests) == []


async def test_a_failing_model_is_an_error() -> None:
    """The reason of a model's failure is the code of the error."""
    one, _ = relay(fail="MODEL_MISSING")
    status, answer = await one.answer(HELLO)
    assert (status, answer["error"]["code"]) == (400, "MODEL_MISSING")
