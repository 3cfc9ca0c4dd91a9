"""The tools that a run is shown of many."""

from collections.abc import Sequence
from dataclasses import replace

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.errors import OverloadedError
from aeond.orchestration.execution.tool_visibility import MAX_SHOWN, MAX_WHOLE
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.matching.tool_choice import ToolChoice
from aeond.ports.embedding import Vector
from tests.support.strategy import SPECS, registry, run_of

MANY = tuple(
    replace(SPECS[0], name=f"tool{number:02}", description=f"About {number}.") for number in range(40)
)


class BusyEmbedder(NoEmbedder):
    available = True

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        raise OverloadedError("busy", reason="EMBEDDER_BUSY")


def choice(many: int, embedder: NoEmbedder | None = None) -> ToolChoice:
    return ToolChoice(registry(*MANY[:many]), TextRanking(embedder or NoEmbedder()))


async def test_the_nearest_tools_are_chosen() -> None:
    """The choice is bounded, sorted, and the same for the same request."""
    run = replace(run_of(), resolved_text="What is there about 33?")
    shown = await choice(40).choose(run)
    assert (len(shown), "tool33" in shown, list(shown)) == (MAX_SHOWN, True, sorted(shown))
    assert await choice(40).choose(run) == shown


async def test_nothing_is_chosen_among_few() -> None:
    """Tools that can all be shown are shown in their fixed order."""
    assert await choice(MAX_WHOLE).choose(run_of()) == ()
    narrowed = replace(run_of(), request=replace(run_of().request, tools=("tool0*",)))
    assert await choice(40).choose(narrowed) == ()


async def test_an_overloaded_embedder_stops_no_run() -> None:
    """A choice that cannot be made is left to the words of the request."""
    assert await choice(40, BusyEmbedder()).choose(run_of()) == ()
