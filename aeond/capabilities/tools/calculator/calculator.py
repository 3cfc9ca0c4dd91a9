"""The calculator tool."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from aeond.capabilities.tools.calculator.expression_conversation import EXPRESSION, expression_view
from aeond.capabilities.tools.calculator.expressions import MAX_CHARS, evaluate
from aeond.capabilities.tools.calculator.values import shown
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import CompositionView, Effect, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import ToolError
from aeond.ports import Clock


class CalculatorArguments(BaseModel):
    """What to compute."""

    expression: Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]


class CalculatorResult(BaseModel):
    """The value; an integer where it is one, a text such as "44 days" for dates and times."""

    result: int | float | str


def local_now(clock: Clock) -> datetime:
    """The local time to the minute, without a time zone."""
    here = datetime.fromtimestamp(clock.time(), UTC).astimezone()
    return here.replace(tzinfo=None, second=0, microsecond=0)


def computed(expression: str, now: Callable[[], datetime]) -> int | float | str | None:
    """The value as the tool shows it; None for an expression that has none."""
    try:
        return shown(evaluate(expression, now()))
    except ToolError:
        return None


def calculator_tool(clock: Clock) -> FunctionTool:
    """The tool. It is PURE although `today` depends on the clock: computing again after a crash does no harm."""
    now = partial(local_now, clock)

    async def view(_arguments: JsonObject, _context: ToolContext, _request: str) -> CompositionView:
        return expression_view(now())

    @tool(
        effect=Effect.PURE,
        example={"expression": "(31 + 4) * 12 / 7"},
        composed=(EXPRESSION, view),
        timeout_seconds=5.0,
    )
    def calculator(arguments: CalculatorArguments, _context: ToolContext) -> CalculatorResult:
        """Compute numbers, percentages, dates and times exactly."""
        return CalculatorResult(result=shown(evaluate(arguments.expression, now())))

    return calculator
