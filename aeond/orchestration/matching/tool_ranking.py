"""Chooses the tools that fit a request, where there are more than a prompt should list."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from aeond.domain.tools import ToolSpec
from aeond.domain.values import display_json
from aeond.frozen import frozen
from aeond.orchestration.matching.text_ranking import Described, TextRanking

_SENTENCE_END: Final = re.compile(r"(?<=[.;:!?])\s+")
MAX_TEXTS_OF_A_TOOL: Final = 8


@frozen
class ToolRanking:
    """Ranks tools by their descriptions and example uses; vectors are kept by `ranking`.

    Measured on 24 tools and 31 requests (tests/support/tool_requests.py): the right tool is first in 0.71, among
    the first twelve in 0.84. Those missed are requests that only speak of the content of a file or of a fact, so the
    tools for these belong into `always`.
    """

    ranking: TextRanking

    async def rank(
        self, request: str, specs: Sequence[ToolSpec], limit: int, always: Collection[str] = ()
    ) -> Sequence[ToolSpec]:
        """At most `limit` tools: those named in `always` as given, then those nearest to the request, the nearest
        first. All of them, as given, if they are no more than that."""
        if len(specs) <= limit:
            return tuple(specs)
        kept = [spec for spec in specs if spec.name in always][:limit]
        by_name = {spec.name: spec for spec in specs if spec.name not in always}
        described = [describe_tool(spec) for spec in by_name.values()]
        ranked = await self.ranking.rank(request, described, best=1)
        nearest = [by_name[name] for name, _ in ranked.scores]
        return (*kept, *nearest[: limit - len(kept)])


def describe_tool(spec: ToolSpec) -> Described:
    """Its description as a whole, its sentences, and its name with the values of its example."""
    sentences = [part.strip() for part in _SENTENCE_END.split(spec.description) if part.strip()]
    example = " ".join(
        value if isinstance(value, str) else display_json(value) for value in (spec.example or {}).values()
    )
    use = f"{spec.name.replace('_', ' ')} {example}".strip()
    texts = dict.fromkeys([spec.description, use, *sentences])
    return Described(spec.name, tuple(texts)[:MAX_TEXTS_OF_A_TOOL])
