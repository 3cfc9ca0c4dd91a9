"""Effects as tools report them: checked, bounded, and carried through the invoker."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from aeond.capabilities.tools.effects import MAX_TARGET_CHARS, split_output
from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import MAX_EFFECTS, Effect, RecordedEffect, ToolContext, ToolOutput
from aeond.errors import ToolError
from tests.support.tools import CONTEXT, FreeTool, call, invoker_of

CREATED = RecordedEffect("file.created", "a.txt", "12 bytes")
CHANGED = RecordedEffect("file.changed", "b.txt")


class Words(BaseModel):
    text: str


@tool(effect=Effect.WRITE_CONTAINED)
async def give_back(arguments: Words, _context: ToolContext) -> ToolOutput[Words]:
    """Gives a text back and says that it made a file."""
    return ToolOutput(arguments, (CREATED,))


async def test_effects_of_a_function_reach_the_result() -> None:
    """A typed function may return its model with effects; the result holds both."""
    result = await invoker_of(give_back).invoke(call(), CONTEXT)
    assert (result.success, result.effects) == (True, (CREATED,))
    assert result.data == call().arguments


async def test_effects_of_an_earlier_call_reach_its_result() -> None:
    """The result of reconciling an earlier call may have effects too."""

    async def recall(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        return ToolOutput(arguments, (CREATED,))

    result = await invoker_of(FreeTool(recall=recall)).reconcile(call(), CONTEXT)
    assert result is not None
    assert result.effects == (CREATED,)


async def test_data_beside_effects_is_checked() -> None:
    """The output schema holds for the data of an output that has effects, which are kept if it is broken."""

    async def other(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        return ToolOutput({"number": 1}, (CREATED,))

    result = await invoker_of(FreeTool(work=other)).invoke(call(), CONTEXT)
    assert (result.success, result.reason, result.effects) == (False, "OUTPUT_INVALID", (CREATED,))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ToolError("no", reason="NO_MORE"), "NO_MORE"),
        (ZeroDivisionError(), "TOOL_RAISED"),
        (None, "TOOL_TIMEOUT"),
    ],
)
async def test_effects_of_a_call_that_fails_are_kept(error: Exception | None, reason: str) -> None:
    """What a call recorded before it raised, or before its time ran out, are the effects of its failure."""

    async def work(_arguments: Mapping[str, Any], context: ToolContext) -> Any:
        context.record(CREATED)
        if error is None:
            await anyio.sleep_forever()
        raise error or AssertionError

    result = await invoker_of(FreeTool(work=work, timeout_seconds=0.1)).invoke(call(), CONTEXT)
    assert (result.success, result.reason, result.effects) == (False, reason, (CREATED,))


async def test_recorded_effects_precede_those_of_the_output() -> None:
    """A call may record some effects and return others; the result has all, and a bounded number of them."""

    async def work(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        for _ in range(MAX_EFFECTS - 1):
            context.record(CREATED)
        return ToolOutput(arguments, (CHANGED, CHANGED))

    result = await invoker_of(FreeTool(work=work)).invoke(call(), CONTEXT)
    assert result.effects == (*(CREATED,) * (MAX_EFFECTS - 1), RecordedEffect("effects.omitted", "2"))


async def test_a_recorded_effect_without_kind_fails_the_call() -> None:
    """An effect is checked when it is recorded."""

    async def work(arguments: Mapping[str, Any], context: ToolContext) -> Any:
        context.record(RecordedEffect("created", "a"))
        return arguments

    result = await invoker_of(FreeTool(work=work)).invoke(call(), CONTEXT)
    assert (result.success, result.reason, result.effects) == (False, "OUTPUT_INVALID", ())


@pytest.mark.parametrize(
    "effect",
    [RecordedEffect("created", "a"), RecordedEffect("File.Created", "a"), RecordedEffect("file.created", "")],
)
def test_an_effect_without_kind_or_target_is_refused(effect: RecordedEffect) -> None:
    """A kind is dotted lower-case words, and an effect names what it changed."""
    with pytest.raises(ToolError) as caught:
        split_output("tool", ToolOutput(None, (effect,)))
    assert caught.value.reason == "OUTPUT_INVALID"


def test_effects_are_bounded() -> None:
    """Long texts are cut and so is a long list, whose last entry counts the rest."""
    long = RecordedEffect("file.created", "x" * 5_000, "line\nbreak \ud800")
    data, effects = split_output("tool", ToolOutput(1, (long,) * (MAX_EFFECTS + 5)))
    assert (data, len(effects)) == (1, MAX_EFFECTS)
    assert len(effects[0].target) == MAX_TARGET_CHARS
    assert effects[0].detail == "line break \\ud800"
    assert effects[-1] == RecordedEffect("effects.omitted", "6")


def test_plain_data_has_no_effects() -> None:
    """An output that is data alone is passed on as it is."""
    assert split_output("tool", {"a": 1}) == ({"a": 1}, ())
