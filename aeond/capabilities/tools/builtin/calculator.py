"""The calculator tool."""

from typing import Annotated

from pydantic import BaseModel, Field

from aeond.capabilities.tools.builtin.arithmetic import as_number
from aeond.capabilities.tools.builtin.expressions import MAX_CHARS, evaluate
from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Effect, ToolContext


class CalculatorArguments(BaseModel):
    """What to compute."""

    expression: Annotated[
        str, Field(min_length=1, max_length=MAX_CHARS, description="The arithmetic expression to compute")
    ]


class CalculatorResult(BaseModel):
    """The value; an integer where it is one."""

    result: int | float


def calculator_tool() -> FunctionTool:
    @tool(effect=Effect.PURE, example={"expression": "(31 + 4) * 12 / 7"}, timeout_seconds=5.0)
    def calculator(arguments: CalculatorArguments, _context: ToolContext) -> CalculatorResult:
        """Computes numbers exactly: arithmetic, powers, percentages, sqrt, round, min, max, mean, sum."""
        return CalculatorResult(result=as_number(evaluate(arguments.expression)))

    return calculator
