"""The contract of tools that propose values, and the limits that the invoker sets them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.names import nearest
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolSpec
from aeond.errors import InvalidInputError, ToolError
from aeond.ports import MAX_CANDIDATES, Tool
from tests.support.tools import CONTEXT, FreeTool, invoker_of, within

CITIES = ("Berlin", "Lisbon", "Oslo", "San José")
NO_CITY = "there is no such city"


class WeatherArguments(BaseModel):
    city: str = Field(max_length=50)


class Weather(BaseModel):
    sky: str


async def propose(_context: ToolContext, limit: int, near: str) -> Sequence[str]:
    return nearest(near, CITIES, limit) if near else CITIES[:limit]


@tool(effect=Effect.READ, example={"city": "Oslo"}, candidates={"city": propose})
async def weather(arguments: WeatherArguments, _context: ToolContext) -> Weather:
    """Tells the weather in a city."""
    if arguments.city not in CITIES:
        raise ToolError(NO_CITY, reason="CITY_UNKNOWN", field="city")
    return Weather(sky="clear")


class WeatherTool:
    """The same tool as a class of its own."""

    spec = ToolSpec(
        name="weather",
        description="Tells the weather in a city.",
        input_schema=weather.spec.input_schema,
        output_schema=weather.spec.output_schema,
        effect=Effect.READ,
        example={"city": "Oslo"},
        candidates=("city",),
    )

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        return await weather.execute(arguments, context)

    async def reconcile(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        return None

    async def candidates(
        self, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        return await propose(context, limit, near)


@pytest.fixture(params=["function", "class"])
def proposing(request: pytest.FixtureRequest) -> Tool:
    return weather if request.param == "function" else WeatherTool()


async def test_candidates_are_existing_values(proposing: Tool) -> None:
    """Each proposed value makes a call that succeeds."""
    invoker = invoker_of(proposing)
    found = await invoker.candidates("weather", "city", CONTEXT, 10)
    assert tuple(found) == CITIES
    for city in found:
        result = await invoker.invoke(ToolCall("weather", {"city": city}), CONTEXT)
        assert result.success


async def test_candidates_are_bounded_and_the_nearest_come_first(proposing: Tool) -> None:
    """No more than the limit are proposed, those nearest to the text first."""
    invoker = invoker_of(proposing)
    assert await invoker.candidates("weather", "city", CONTEXT, 1, "san jose today") == ("San José",)
    assert await invoker.candidates("weather", "city", CONTEXT, 0) == ()
    assert await invoker.candidates("weather", "city", CONTEXT, -1) == ()
    assert len(await invoker.candidates("weather", "city", CONTEXT, 10**9)) == len(CITIES)


async def test_an_error_about_a_value_lists_candidates(proposing: Tool) -> None:
    """A call that fails on a value of an argument with candidates names the nearest ones, in words and as data."""
    result = await invoker_of(proposing).invoke(ToolCall("weather", {"city": "osloo"}), CONTEXT)
    assert (result.success, result.reason) == (False, "CITY_UNKNOWN")
    candidates = result.metadata["candidates"]
    assert isinstance(candidates, Sequence)
    assert candidates[0] == "Oslo"
    assert result.error.startswith(f"{NO_CITY}; there is 'Oslo'")


async def test_nothing_is_proposed_for_anything_else(proposing: Tool) -> None:
    """Other arguments, unknown tools and tools that the run may not call have no candidates."""
    invoker = invoker_of(proposing, FreeTool())
    assert await invoker.candidates("weather", "country", CONTEXT, 5) == ()
    assert await invoker.candidates("nothing", "city", CONTEXT, 5) == ()
    assert await invoker.candidates("give_back", "text", CONTEXT, 5) == ()
    without = ToolContext("run1", "s1", "call1", "", allowed_tools=("give_back",))
    assert await invoker.candidates("weather", "city", without, 5) == ()


@dataclass
class ProposingTool(FreeTool):
    """A tool whose proposals misbehave."""

    proposals: Any = ()
    named: tuple[str, ...] = ("text",)

    @property
    def spec(self) -> ToolSpec:
        plain = super().spec
        return ToolSpec(
            plain.name,
            plain.description,
            plain.input_schema,
            plain.output_schema,
            plain.effect,
            candidates=self.named,
        )

    async def candidates(
        self, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        if isinstance(self.proposals, BaseException):
            raise self.proposals
        if self.proposals == "hang":
            await anyio.sleep_forever()
        proposed: Sequence[str] = self.proposals
        return proposed


@pytest.mark.parametrize(
    ("proposals", "kept"),
    [
        (ValueError("broken"), ()),
        (ToolError("no"), ()),
        (KeyError(), ()),
        ("hang", ()),
        (None, ()),
        (7, ()),
        (["a", "b", "a"], ("a", "b")),
        (["a", 1, None, "", "x" * 1_001, "b"], ("a", "b")),
        ([str(number) for number in range(10_000)], tuple(str(number) for number in range(MAX_CANDIDATES))),
    ],
    ids=repr,
)
async def test_bad_proposals_do_no_harm(proposals: object, kept: tuple[str, ...]) -> None:
    """Whatever a tool proposes, raises or waits for, the caller gets a bounded list of texts in time."""
    with anyio.fail_after(60):
        found = await invoker_of(ProposingTool(proposals=proposals)).candidates(
            "give_back", "text", CONTEXT, 10**6
        )
    assert found == kept


async def test_bad_proposals_do_not_hide_the_error() -> None:
    """An error about a value stays the error of the call when no candidates can be had."""

    async def refuse(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        raise ToolError("no such text", reason="TEXT_UNKNOWN", field="text")

    invoker = invoker_of(ProposingTool(work=refuse, proposals=RuntimeError("broken")))
    result = await invoker.invoke(ToolCall("give_back", {"text": "x"}), CONTEXT)
    assert (result.reason, result.error) == ("TEXT_UNKNOWN", "no such text")
    assert "candidates" not in result.metadata


async def test_candidates_of_an_error_are_kept() -> None:
    """Candidates that the tool itself gives with an error are the ones of the result."""

    async def refuse(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        raise ToolError("which one?", reason="TEXT_AMBIGUOUS", field="text", candidates=("one", "two"))

    result = await invoker_of(ProposingTool(work=refuse, proposals=["three"])).invoke(
        ToolCall("give_back", {"text": "x"}), CONTEXT
    )
    assert result.metadata["candidates"] == ["one", "two"]
    assert result.error == "which one?"


@pytest.mark.parametrize(
    "unusable",
    [ProposingTool(named=("text", "colour")), ProposingTool(named=("/text",))],
    ids=lambda tool: str(tool.named),
)
def test_candidates_are_of_known_arguments(unusable: Tool) -> None:
    """A tool that names candidates for an argument it does not have is not registered."""
    with pytest.raises(InvalidInputError) as refused:
        invoker_of(unusable)
    assert (refused.value.reason, refused.value.field) == ("CANDIDATES_INVALID", "candidates")


def test_candidates_need_a_method() -> None:
    """A tool that names candidates and has no method to propose them is not registered."""

    class Silent:
        spec = WeatherTool.spec
        execute = WeatherTool.execute
        reconcile = WeatherTool.reconcile

    with pytest.raises(InvalidInputError) as refused:
        invoker_of(Silent())
    assert refused.value.reason == "CANDIDATES_INVALID"


async def test_a_cancelled_caller_is_let_go() -> None:
    """Cancelling the caller of a proposal that hangs ends it at once."""
    invoker = invoker_of(ProposingTool(proposals="hang"))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(invoker.candidates, "give_back", "text", within(CONTEXT, ""), 5)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
