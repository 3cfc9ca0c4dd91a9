"""The rules for tools, as the check for authors applies them to the built-in tools and to tools of a user."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.capabilities.tools.tool_check import tool_problems
from aeond.domain.tools import Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError
from tests.contract.test_tool_contract import NAMES, all_tools
from tests.support.memory import InMemoryMemory

ROOMS = ("attic", "cellar", "kitchen")


class LampArguments(BaseModel):
    room: str = Field(max_length=50)


class Lamp(BaseModel):
    state: str


@dataclass
class House:
    """The world that the example tools of a user act on; each flaw breaks one rule."""

    flaw: str = ""
    lit: frozenset[str] = frozenset()
    calls: tuple[str, ...] = ()

    async def rooms(self, _context: ToolContext, limit: int, _near: str) -> Sequence[str]:
        return ("",) if self.flaw == "empty candidate" else ROOMS if self.flaw == "limit" else ROOMS[:limit]

    def light(self) -> FunctionTool:
        async def lit(arguments: LampArguments, context: ToolContext) -> ToolOutput[Lamp] | None:
            known = context.call_id in self.calls or self.flaw == "claims"
            return self._lit(arguments.room) if known and self.flaw != "forgets" else None

        @tool(
            effect=Effect.WRITE_OUTSIDE,
            idempotent=True,
            example={"room": "attic"},
            reconcile=lit,
            candidates={"room": self.rooms},
        )
        async def light(arguments: LampArguments, context: ToolContext) -> ToolOutput[Lamp]:
            """Switches a lamp on."""
            self.lit, self.calls = self.lit | {arguments.room}, (*self.calls, context.call_id)
            if self.flaw == "silent":
                return ToolOutput(Lamp(state="on"))
            return self._lit(arguments.room)

        return light

    def look(self) -> FunctionTool:
        @tool(effect=Effect.READ, example={"room": "cellar"}, candidates={"room": self.rooms})
        async def look(arguments: LampArguments, _context: ToolContext) -> ToolOutput[Lamp]:
            """Tells whether a lamp is on."""
            if arguments.room not in ROOMS:
                reason, field = ("ROOM_UNKNOWN", "room")
                if self.flaw == "no reason":
                    raise ToolError("there is no such room", field=field)
                raise ToolError("no such room", reason=reason, field="" if self.flaw == "no field" else field)
            if self.flaw == "fails":
                raise ToolError("it is dark", reason="DARK")
            effects = (RecordedEffect("lamp.seen", "cellar"),) if self.flaw == "effects" else ()
            return ToolOutput(Lamp(state="off"), effects)

        return look

    def _lit(self, room: str) -> ToolOutput[Lamp]:
        return ToolOutput(Lamp(state="on"), (RecordedEffect("lamp.lit", room),))


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    for name, text in (
        ("recipe.md", "flour\n"),
        ("expenses.csv", "month,amount\nMay,20\nJune,30\n"),
        ("trip.md", "two nights in Porto\n"),
        ("sketch.txt", "a boat\n"),
        ("obsolete.log", "done\n"),
    ):
        (tmp_path / name).write_text(text)
    return str(tmp_path)


@pytest.mark.parametrize("name", sorted(NAMES))
async def test_every_built_in_tool_keeps_the_rules(name: str, workspace: str) -> None:
    """The check reports nothing about a built-in tool."""
    memory = InMemoryMemory()
    await memory.write("old locker number", 12)
    (checked,) = [tool for tool in all_tools(memory) if tool.spec.name == name]
    assert await tool_problems(checked, workspace) == ()


async def test_a_tool_of_a_user_keeps_the_rules(workspace: str) -> None:
    """The check reports nothing about tools that are written as documented."""
    assert await tool_problems(House().light(), workspace) == ()
    assert await tool_problems(House().look(), workspace) == ()


@pytest.mark.parametrize(
    ("flaw", "which", "problem"),
    [
        ("claims", "light", "`reconcile` reports an effect of a call that was never made"),
        ("forgets", "light", "after a call `reconcile` does not return its result and effects"),
        ("silent", "light", "it changes something but reports no effect"),
        ("empty candidate", "look", "candidates of room must be texts that are not empty"),
        ("limit", "look", "candidates of room exceed the limit"),
        ("no reason", "look", "the error about room has no reason of its own"),
        ("no field", "look", "the error about room has neither field='room' nor candidates"),
        ("fails", "look", "its example fails: DARK"),
        ("effects", "look", "it reports effects but declares read"),
    ],
)
async def test_a_broken_rule_is_found(flaw: str, which: str, problem: str, workspace: str) -> None:
    """Each broken rule is reported in a sentence."""
    house = House(flaw)
    problems = await tool_problems(house.light() if which == "light" else house.look(), workspace)
    assert any(found.startswith(problem) for found in problems), problems


async def test_a_tool_without_example_is_found(workspace: str) -> None:
    """A tool that cannot be registered, or shows no example, is reported before it is executed."""

    class Renamed:
        def __init__(self, **changes: Any) -> None:
            self.spec = replace(House().look().spec, candidates=(), **changes)
            self.execute = House().look().execute
            self.reconcile = House().look().reconcile

    assert "cannot name a tool" in (await tool_problems(Renamed(name="No"), workspace))[0]
    assert "no example" in (await tool_problems(Renamed(example=None), workspace))[0]
