"""The agent `reader`: parts, notes and the answer from them."""

import pytest

from aeond.capabilities.agents.reader import PARTLY_READ, Reader, split
from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.domain.messages import Message, Role
from aeond.errors import InvalidInputError
from tests.support.strategy import says

LINES = "".join(f"Supplier {n} delivered on day {n % 28}.\n" for n in range(1_500))


def asked(material: str, calls: int = 3, tokens: int = 100_000) -> Message:
    content = {"request": "Who is late?", "task": "Name them.", "material": material}
    return Message(Role.USER, content, {"max_calls": calls, "max_tokens": tokens})


async def test_short_material_takes_one_call() -> None:
    """A text that fits into one prompt is read whole, in one call."""
    llm = says("Nobody.")
    said = await Reader().using(llm).process(asked("s1: all on time"))
    assert said.content == "Nobody."
    assert len(llm.requests) == 1
    assert "s1: all on time" in str(llm.requests[0].messages[-1].content)


async def test_long_material_is_read_in_parts() -> None:
    """Each part is read once with the task in view, and the last call sees the notes and no part."""
    llm = says("one", "two", "the answer")
    said = await Reader().using(llm).process(asked(LINES))
    assert said.content == "the answer"
    assert said.metadata.get("clarity") is None
    first, second, last = (str(request.messages[-1].content) for request in llm.requests)
    assert first.partition("\n")[0] == second.partition("\n")[0] == "Request: Who is late?"
    assert first.split("of 2:\n")[1] + second.split("of 2:\n")[1] == LINES
    assert "Notes of part 1:\none" in last
    assert "Supplier 3 " not in last


async def test_reading_within_a_small_budget_is_reported() -> None:
    """With too few tokens for all of it the beginning is read, and the answer is only partly clear."""
    llm = ScriptedLLM(Script(rules=(Rule(text="some"),)))
    said = await Reader().using(llm).process(asked(LINES, tokens=8_000))
    assert (said.metadata["clarity"], said.metadata["handoff"]) == ("partially_clear", PARTLY_READ)


async def test_another_message_is_refused() -> None:
    """A message without request, task and material is an error that names them."""
    with pytest.raises(InvalidInputError, match="request, task and material"):
        await Reader().using(says()).process(Message(Role.USER, "text"))


def test_parts_are_the_whole_text() -> None:
    """Parts end with a line where one ends near, and together are the text."""
    parts = split(LINES, 3)
    assert "".join(parts) == LINES
    assert len(parts) == 3
    assert all(part.endswith("\n") for part in parts)
    assert split("abc", 5) == ["a", "b", "c"]
