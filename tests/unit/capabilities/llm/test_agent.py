"""The built-in agent answers within its bounds and says what it used."""

from typing import Any

import pytest

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.agent import LLMAgent
from aeond.domain.messages import Message, Role
from aeond.domain.values import JsonValue
from aeond.errors import InvalidInputError, LLMError

STORY = "word " * 400


def agent(*rules: Rule, context_length: int = 1000) -> tuple[LLMAgent, ScriptedLLM]:
    llm = ScriptedLLM(Script(rules=rules or (Rule(text=STORY),), context_length=context_length))
    return LLMAgent(llm), llm


def message(content: JsonValue, **metadata: Any) -> Message:
    return Message(Role.USER, content, metadata)


async def test_a_text_is_answered_with_what_it_cost() -> None:
    """The answer is the agent's, with the tokens it took and why it ended."""
    llm_agent, _ = agent(Rule(text="Four."))
    reply = await llm_agent.process(message("2+2?"))
    assert (reply.role, reply.content) == (Role.AGENT, "Four.")
    assert reply.metadata["finish_reason"] == "stop"
    used = reply.metadata["used"]
    assert isinstance(used, dict)
    assert set(used) == {
        *("prompt_tokens", "completion_tokens", "cached_tokens", "llm_calls"),
        *("first_token_seconds", "engine_seconds"),
    }
    assert used["llm_calls"] == 1


async def test_system_and_text_become_two_messages() -> None:
    """System text reaches the model as a system message."""
    llm_agent, llm = agent(Rule(text="x"))
    await llm_agent.process(message({"system": "Be brief.", "text": "Go."}))
    assert [(said.role, said.content) for said in llm.requests[0].messages] == [
        (Role.SYSTEM, "Be brief."),
        (Role.USER, "Go."),
    ]


@pytest.mark.parametrize("bound", [9, 20, 50])
async def test_the_bound_holds_for_prompt_and_answer_together(bound: int) -> None:
    """Prompt and answer never cost more than max_tokens together."""
    llm_agent, _ = agent()
    reply = await llm_agent.process(message("Tell me a story.", max_tokens=bound))
    used = reply.metadata["used"]
    assert isinstance(used, dict)
    assert used["prompt_tokens"] + used["completion_tokens"] == bound
    assert reply.metadata["finish_reason"] == "length"


@pytest.mark.parametrize("bound", [0, 1, 8])
async def test_a_prompt_that_spends_everything_is_not_asked(bound: int) -> None:
    """Where the prompt alone would reach the bound, the model is not called at all."""
    llm_agent, llm = agent()
    with pytest.raises(LLMError) as failed:
        await llm_agent.process(message("Tell me a story.", max_tokens=bound))
    assert failed.value.reason == "TOKENS_SPENT"
    assert not llm.requests


async def test_a_prompt_beyond_the_context_is_refused() -> None:
    """A prompt that the model cannot hold is refused, not shortened."""
    llm_agent, _ = agent(context_length=50)
    with pytest.raises(InvalidInputError) as refused:
        await llm_agent.process(message("word " * 60))
    assert refused.value.reason == "CONTEXT_TOO_LONG"


async def test_the_answer_takes_what_the_context_leaves() -> None:
    """Without a bound of its own the answer may fill the context and no more."""
    llm_agent, _ = agent(context_length=100)
    reply = await llm_agent.process(message("Tell me a story."))
    used = reply.metadata["used"]
    assert isinstance(used, dict)
    assert used["prompt_tokens"] + used["completion_tokens"] == 100


async def test_pieces_join_to_the_last_message() -> None:
    """The stream's pieces make up its last message, which is what process returns."""
    llm_agent, _ = agent(Rule(text="A longer answer in pieces."))
    *pieces, last = [piece async for piece in llm_agent.stream(message("Go."))]
    whole = await llm_agent.process(message("Go."))
    assert len(pieces) > 1
    assert "".join(str(piece.content) for piece in pieces) == last.content == whole.content
    assert last.metadata == whole.metadata


@pytest.mark.parametrize(
    "content", [None, 7, ["a"], {"system": "a"}, {"text": 1}, {"text": "a", "more": "b"}], ids=repr
)
async def test_other_shapes_are_refused(content: JsonValue) -> None:
    """A message that is neither a text nor system and text is refused before anything is asked."""
    llm_agent, _ = agent()
    with pytest.raises(InvalidInputError) as refused:
        await llm_agent.process(message(content))
    assert refused.value.field == "content"


@pytest.mark.parametrize("bound", [-1, 2.5, "10", True])
async def test_bounds_are_whole_numbers(bound: Any) -> None:
    """A bound that is no whole number is refused by its name."""
    llm_agent, _ = agent()
    with pytest.raises(InvalidInputError) as refused:
        await llm_agent.process(message("x", max_tokens=bound))
    assert refused.value.field == "metadata.max_tokens"


def test_it_says_that_it_streams() -> None:
    """The agent is named llm and has the capability to stream."""
    llm_agent, _ = agent()
    assert llm_agent.name == "llm"
    assert "stream" in llm_agent.capabilities
