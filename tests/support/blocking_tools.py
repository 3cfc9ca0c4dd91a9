"""A tool file for the real daemon with what no tool should do: it holds the event loop."""

from threading import Event

from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolContext


class Held(BaseModel):
    """For how long."""

    seconds: float


@tool(effect=Effect.WRITE_OUTSIDE, timeout_seconds=120)
async def hold_the_loop(arguments: Held, _context: ToolContext) -> Held:
    """Keeps everything else in the daemon from happening."""
    Event().wait(arguments.seconds)
    return arguments


TOOLS = [hold_the_loop]
