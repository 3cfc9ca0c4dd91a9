"""The echo tool: returns a text, for trials, benchmarks and plans that need a fixed text. Models are not offered it."""

from typing import Annotated

from pydantic import BaseModel, Field

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Effect, ToolContext

MAX_CHARS = 4_000


class EchoArguments(BaseModel):
    """What to give back."""

    text: Annotated[str, Field(max_length=MAX_CHARS, description="The text to give back")]


class EchoResult(BaseModel):
    """The same text."""

    text: Annotated[str, Field(max_length=MAX_CHARS)]


def echo_tool() -> FunctionTool:
    @tool(effect=Effect.PURE, example={"text": "Good morning, Lena!"}, timeout_seconds=5.0, offered=False)
    def echo(arguments: EchoArguments, _context: ToolContext) -> EchoResult:
        """Return a text unchanged, to test that tools work."""
        return EchoResult(text=arguments.text)

    return echo
