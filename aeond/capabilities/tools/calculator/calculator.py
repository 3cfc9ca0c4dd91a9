"""The calculator tool."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, Field

from aeond.capabilities.tools.calculator.expressions import MAX_CHARS, evaluate
from aeond.capabilities.tools.calculator.values import shown
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Effect, ToolContext
from aeond.ports import Clock


class CalculatorArguments(BaseModel):
    """What to compute."""

    expression: Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]


class CalculatorResult(BaseModel):
    """The value; an integer where it is one, a text such as "44 days" for dates and times."""

    result: int | float | str


def calculator_tool(clock: Clock) -> FunctionTool:
    """The tool. It is PURE although `today` depends on the clock: computing again after a crash does no harm."""

    @tool(effect=Effect.PURE, example={"expression": "(31 + 4) * 12 / 7"}, timeout_seconds=5.0)
    def calculator(arguments: CalculatorArguments, _context: ToolContext) -> CalculatorResult:
        """Compute numbers, percentages, dates and times exactly."""
        now = (
            datetime.fromtimestamp(clock.time(), UTC)
            .astimezone()
            .replace(tzinfo=None, second=0, microsecond=0)
        )
        return CalculatorResult(result=shown(evaluate(arguments.expression, now)))

    return calculator
