"""Measures how often the right tool is among those shown, of two hundred: `python -m tests.eval.tool_choice`."""

import sys
import tomllib

import anyio

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.tools.registry import Registry
from aeond.domain.tools import Effect, ToolSpec
from aeond.orchestration.execution.tool_visibility import MAX_SHOWN
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.matching.tool_choice import ToolChoice
from aeond.ports.embedding import Embedder
from tests.support.embedders import real_embedder
from tests.support.repository import ROOT

_FILE = tomllib.loads((ROOT / "tests/eval/tool_choice.toml").read_text(encoding="utf-8"))
TOOLS = tuple(
    ToolSpec(name, description, {"type": "object"}, {}, Effect.READ)
    for name, description in _FILE["tools"].items()
)
REQUESTS = tuple((request["text"], request["tool"]) for request in _FILE["requests"])


async def places(embedder: Embedder) -> list[tuple[str, str, bool]]:
    """Each request with its tool, and whether that is shown."""
    choice = ToolChoice(Registry(), TextRanking(embedder))
    return [(text, tool, tool in await choice.nearest(text, TOOLS)) for text, tool in REQUESTS]


async def main() -> None:
    async with real_embedder() as embedder:
        for name, one in (("by meaning", embedder), ("by words", NoEmbedder())):
            found = await places(one)
            shown = sum(is_shown for _, _, is_shown in found)
            lines = [f"{name}: {shown} of {len(found)} among {MAX_SHOWN} of {len(TOOLS)}"]
            lines += [f"  not shown: {tool}  {text}" for text, tool, is_shown in found if not is_shown]
            sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    anyio.run(main)
