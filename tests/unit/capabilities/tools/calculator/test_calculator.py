"""The calculator tool."""

import pytest

from aeond.capabilities.tools.calculator.calculator import calculator_tool
from tests.support.doubles import ManualClock
from tests.support.tools import CONTEXT, call, invoker_of


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("17.5% of 2400", 420),
        ("0.1 + 0.2", 0.3),
        ("2 ** 64", 2**64),
        ("7 / 2", 3.5),
        ("6 / 2", 3),
        ("100 / 3", 33.3333333333),
        ("9:50 + 2:35", "12:25"),
    ],
)
async def test_result_is_exact(expression: str, result: float | str) -> None:
    """Results are what a person would write down: no rounding noise, integers as integers, times as text."""
    outcome = await invoker_of(calculator_tool(ManualClock())).invoke(
        call("calculator", expression=expression), CONTEXT
    )
    assert outcome.data == {"result": result}
    assert isinstance(outcome.data, dict)
    assert type(outcome.data["result"]) is type(result)


async def test_largest_result_passes_its_schema() -> None:
    """The longest integer there is comes back whole."""
    nines = "9" * 300
    outcome = await invoker_of(calculator_tool(ManualClock())).invoke(
        call("calculator", expression=nines), CONTEXT
    )
    assert outcome.data == {"result": int(nines)}


async def test_failure_says_why() -> None:
    """A failed computation arrives with its reason."""
    outcome = await invoker_of(calculator_tool(ManualClock())).invoke(
        call("calculator", expression="1 / 0"), CONTEXT
    )
    assert (outcome.success, outcome.reason) == (False, "DIVISION_BY_ZERO")


def test_description_shows_no_arithmetic() -> None:
    """The description has no example of arithmetic, which small models would copy as their argument."""
    assert not any(character.isdigit() for character in calculator_tool(ManualClock()).spec.description)
