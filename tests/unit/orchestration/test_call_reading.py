from typing import Any

import pytest

from aeond.domain.tools import ToolCall
from aeond.orchestration.call_reading import CallReading
from aeond.orchestration.plan_schema import MAX_STRING_CHARS
from aeond.orchestration.repair import ModelSupervisor
from tests.support.strategy import SPECS, grant, says, validator


def reading(*answers: Any) -> CallReading:
    check = validator()
    return CallReading(ModelSupervisor(says(*answers), check), check)


async def test_a_good_call_is_read_without_a_model() -> None:
    """A call that its tool would take is taken as it stands, and costs nothing."""
    spent = grant()
    read = await reading().read({"tool": "look", "arguments": {"path": "garden"}}, SPECS, spent)
    assert read.value == ToolCall("look", {"path": "garden"})
    assert spent.used.llm_calls == 0


async def test_the_form_of_arguments_is_mended() -> None:
    """A number written as text becomes a number, with the same value."""
    read = await reading().read(
        {"tool": "look", "arguments": {"path": "garden", "depth": "3"}}, SPECS, grant()
    )
    assert read.value == ToolCall("look", {"path": "garden", "depth": 3})


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"tool": "fly", "arguments": {}}, "TOOL_UNKNOWN"),
        ({"route": "reply"}, "TOOL_UNKNOWN"),
        ({"tool": "look", "arguments": {"path": "$s1"}}, "REFERENCE_UNRESOLVED"),
        ({"tool": "look", "arguments": {"path": "x" * MAX_STRING_CHARS}}, "ARGUMENT_CUT"),
        ({"tool": "look", "arguments": {}}, "ARGUMENT_MISSING"),
        ({"tool": "look", "arguments": {"path": "garden", "colour": "red"}}, "ARGUMENT_UNKNOWN"),
    ],
)
async def test_a_call_that_cannot_be_made_is_refused(said: dict[str, Any], reason: str) -> None:
    """An unknown tool, a reference, a text that hit its bound, and arguments that nothing mends are problems."""
    read = await reading({"text": "no JSON"}).read(said, SPECS, grant())
    assert read.value is None
    assert read.problem is not None
    assert read.problem.reason == reason


async def test_a_mended_call_is_checked_again() -> None:
    """A repair that brings in a reference is refused as the call was."""
    sly = '{"tool":"look","arguments":{"path":"$s1"}}'
    read = await reading({"text": sly}).read({"tool": "look", "arguments": {"colour": "$s1"}}, SPECS, grant())
    assert read.value is None
