"""Choosing the tools that fit a request where there are many."""

import pytest

from aeond.domain.tools import Effect, ToolSpec
from aeond.domain.values import JsonObject
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.matching.tool_ranking import ToolRanking, describe_tool
from tests.support.embedders import WordEmbedder, real_embedder
from tests.support.tool_requests import TOOL_REQUESTS, TOOLS

ANYTHING: JsonObject = {"type": "object"}


def spec(name: str, description: str, **example: str) -> ToolSpec:
    return ToolSpec(name, description, ANYTHING, ANYTHING, Effect.PURE, example=dict(example))


SPECS = [
    spec("ferry_times", "Gives the times of ferries. Knows all harbours.", harbour="Oban"),
    spec("write_note", "Writes a note.", text="Call the plumber"),
    spec("tune_piano", "Tunes a piano.", model="upright"),
    spec("buy_stamps", "Buys stamps for letters.", country="Norway"),
]


def ranking() -> ToolRanking:
    return ToolRanking(TextRanking(WordEmbedder()))


async def test_the_tools_that_fit_come_first() -> None:
    """Of more tools than the limit the nearest are given, by description and by example."""
    found = await ranking().rank("which ferries leave the harbour", SPECS, 2)
    assert len(found) == 2
    assert found[0].name == "ferry_times"
    found = await ranking().rank("I have to call the plumber", SPECS, 1)
    assert [one.name for one in found] == ["write_note"]


async def test_some_tools_are_always_there() -> None:
    """Tools that are named stay whatever the request; the rest of the room goes to the nearest."""
    found = await ranking().rank("which ferries leave the harbour", SPECS, 2, always=("buy_stamps",))
    assert [one.name for one in found] == ["buy_stamps", "ferry_times"]


@pytest.mark.model
async def test_the_right_tool_is_among_the_first_twelve() -> None:
    """Of 23 tools the twelve nearest hold the right one for most requests; those missed are known."""
    async with real_embedder() as embedder:
        chosen = ToolRanking(TextRanking(embedder))
        missed = [
            request
            for wanted, request in TOOL_REQUESTS
            if wanted not in {one.name for one in await chosen.rank(request, TOOLS, 12)}
        ]
    assert len(missed) <= 5, missed


async def test_few_tools_are_left_as_they_are() -> None:
    """Up to the limit all tools are given in their own order, and nothing is embedded."""
    embedder = WordEmbedder()
    ranked = await ToolRanking(TextRanking(embedder)).rank("piano", SPECS, 4)
    assert list(ranked) == SPECS
    assert not embedder.calls


def test_a_tool_is_described_by_its_sentences_and_its_example() -> None:
    """The whole description, each sentence, and the name with the example's values; each text once."""
    assert describe_tool(SPECS[0]).texts == (
        "Gives the times of ferries. Knows all harbours.",
        "ferry times Oban",
        "Gives the times of ferries.",
        "Knows all harbours.",
    )
    assert describe_tool(SPECS[2]).texts == ("Tunes a piano.", "tune piano upright")
    bare = ToolSpec("bare", "", ANYTHING, ANYTHING, Effect.PURE)
    assert all(isinstance(text, str) for text in describe_tool(bare).texts)
