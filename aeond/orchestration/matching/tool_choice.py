"""Chooses the tools that a run is shown when too many are registered to show them all."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.orchestration.execution.tool_visibility import (
    MAX_SHOWN,
    allowed_tools,
    described,
    fits,
    uninformed,
)
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.ports import ToolRegistry

BEST_TEXTS: Final = 1  # the nearest of the texts about a tool counts


@frozen
class ToolChoice:
    """Ranks the tools by how near their descriptions are to the request, by meaning where there is an embedding model."""

    registry: ToolRegistry
    ranking: TextRanking

    async def choose(self, run: RunSnapshot) -> tuple[str, ...]:
        """The names of the tools to show, sorted; () for a run whose tools are all shown, or if they cannot be ranked."""
        specs = allowed_tools(self.registry, run)
        if fits(specs):
            return ()
        try:
            return tuple(sorted(await self.nearest(run.text, uninformed(specs))))
        except AeondError:
            return ()

    async def nearest(self, text: str, specs: Sequence[ToolSpec]) -> Sequence[str]:
        """The names of the MAX_SHOWN tools nearest to the text, the nearest first."""
        ranking = await self.ranking.rank(text, [described(spec) for spec in specs], BEST_TEXTS)
        return [name for name, _ in ranking.scores[:MAX_SHOWN]]
