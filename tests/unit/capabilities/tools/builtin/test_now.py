"""The now tool."""

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from aeond.capabilities.tools.builtin.now import now_tool
from tests.support.doubles import ManualClock
from tests.support.tools import CONTEXT, call, invoker_of

MOMENT = 1_700_000_000.0  # 2023-11-14, 22:13:20 UTC, a Tuesday


@pytest.fixture(params=["UTC", "Asia/Kolkata", "America/New_York"])
def machine_zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The zone that the machine is set to."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


async def now(zone: str | None = None, at: float = MOMENT) -> Any:
    arguments = {} if zone is None else {"zone": zone}
    tool = now_tool(ManualClock(at))
    return await tool.execute(arguments, CONTEXT)


@pytest.mark.usefixtures("machine_zone")
@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", ("2023-11-14", "22:13:20", "Tuesday", "2023-11-14T22:13:20+00:00")),
        ("Asia/Tokyo", ("2023-11-15", "07:13:20", "Wednesday", "2023-11-15T07:13:20+09:00")),
        ("America/New_York", ("2023-11-14", "17:13:20", "Tuesday", "2023-11-14T17:13:20-05:00")),
        ("Asia/Kathmandu", ("2023-11-15", "03:58:20", "Wednesday", "2023-11-15T03:58:20+05:45")),
    ],
)
async def test_zone_decides_what_the_clock_shows(zone: str, expected: tuple[str, ...]) -> None:
    """Date, time and weekday are those of the zone asked for, wherever the machine stands."""
    result = await now(zone)
    assert (result["date"], result["time"], result["weekday"], result["iso"]) == expected
    assert result["zone"] == zone


async def test_no_zone_is_the_machines(machine_zone: str) -> None:
    """Without a zone the clock is the machine's own."""
    local, named = await now(), await now(machine_zone)
    for part in ("date", "time", "weekday", "iso"):
        assert local[part] == named[part]
    assert local["zone"]


async def test_summer_time_is_kept() -> None:
    """The same zone shows summer time in summer."""
    assert (await now("Europe/Berlin", at=1_690_000_000))["iso"].endswith("+02:00")
    assert (await now("Europe/Berlin"))["iso"].endswith("+01:00")


@pytest.mark.parametrize(
    "zone", ["Nowhere/City", "Asia", "../../etc/passwd", "/etc/localtime", "Tokyo time", "ä"]
)
async def test_unknown_zone_is_reported(zone: str) -> None:
    """A zone that does not exist, or is a path, fails with a reason."""
    result = await invoker_of(now_tool(ManualClock(MOMENT))).invoke(call("now", zone=zone), CONTEXT)
    assert result.reason in ("UNKNOWN_ZONE", "ARGUMENTS_INVALID")
