"""Tools of other authors."""

import pytest

from aeond.capabilities.sandbox.foreign_tool import ForeignTool
from aeond.domain.policy import Effect
from aeond.domain.tools import ToolCode, ToolContext, ToolSpec
from aeond.domain.values import JsonObject
from tests.support.tools import CONTEXT, FreeTool


class Declaring(FreeTool):
    """A tool that declares the effect it is named for."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            self.name, "x", {"type": "object"}, {}, Effect(self.name), candidates=("a",), private=True
        )


@pytest.mark.parametrize(
    ("declared", "counts_as"),
    [
        ("pure", "exec_contained"),
        ("read", "exec_contained"),
        ("write_contained", "exec_contained"),
        ("memory", "exec_contained"),
        ("net", "net"),
        ("exec_host", "exec_host"),
        ("secret", "secret"),
        ("undeclared", "undeclared"),
    ],
)
def test_a_declaration_only_makes_a_tool_more_dangerous(declared: str, counts_as: str) -> None:
    """A hostile tool file declared PURE and wrote the workspace: it counts as a sandboxed program at best."""
    spec = ForeignTool(Declaring(declared), Effect.EXEC_CONTAINED).spec
    assert (spec.effect, spec.source, spec.candidates) == (counts_as, "tools.folders", ())
    assert not spec.private


def test_the_code_is_the_tool_s_own() -> None:
    """The code and the sandbox of the tool inside are those of its calls; a tool that states none has none."""
    inside = FreeTool()
    inside.tool_code = ToolCode("1", "said")  # type: ignore[attr-defined]
    assert ForeignTool(inside, Effect.EXEC_CONTAINED).tool_code == ToolCode("1", "said")
    assert ForeignTool(FreeTool(), Effect.EXEC_CONTAINED).tool_code == ToolCode()


async def test_a_call_reaches_the_tool() -> None:
    """The tool itself is called as before."""

    async def recall(_arguments: JsonObject, _context: ToolContext) -> JsonObject:
        return {"text": "before"}

    tool = ForeignTool(FreeTool(recall=recall), Effect.EXEC_HOST)
    assert await tool.execute({"text": "x"}, CONTEXT) == {"text": "x"}
    assert await tool.reconcile({"text": "x"}, CONTEXT) == {"text": "before"}
