"""The now tool: what the clock and the calendar say, here or in another time zone."""

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import BaseModel, Field

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Effect, ToolContext
from aeond.errors import ToolError
from aeond.ports import Clock

# Not from the locale: what a tool answers must not depend on the machine's language.
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class NowArguments(BaseModel):
    """Where to look at the clock."""

    zone: Annotated[
        str,
        Field(
            max_length=64,
            description="Time zone such as Asia/Tokyo; leave out for the local time",
        ),
    ] = ""


class NowResult(BaseModel):
    """A date and time as people write them, and `iso` for programs."""

    date: Annotated[str, Field(description="YYYY-MM-DD")]
    time: Annotated[str, Field(description="HH:MM:SS")]
    weekday: str
    zone: str
    iso: str


def now_tool(clock: Clock) -> FunctionTool:
    @tool(effect=Effect.READ, example={}, timeout_seconds=5.0)
    def now(arguments: NowArguments, _context: ToolContext) -> NowResult:
        """Get the current date, time and weekday."""
        moment = datetime.fromtimestamp(clock.time(), UTC)
        moment = _moved(moment, arguments.zone) if arguments.zone else moment.astimezone()
        return NowResult(
            date=moment.date().isoformat(),
            time=moment.time().isoformat("seconds"),
            weekday=WEEKDAYS[moment.weekday()],
            zone=arguments.zone or moment.tzname() or "UTC",
            iso=moment.isoformat(timespec="seconds"),
        )

    return now


def _moved(moment: datetime, zone: str) -> datetime:
    from zoneinfo import ZoneInfo

    try:
        return moment.astimezone(ZoneInfo(zone))
    except (LookupError, ValueError, OSError):
        raise ToolError(
            f"there is no time zone named {zone!r}: use a name such as Asia/Tokyo, or none for local time",
            reason="UNKNOWN_ZONE",
        ) from None
