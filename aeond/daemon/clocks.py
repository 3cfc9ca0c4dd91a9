"""System clock and random source: the only module that uses either."""

import re
import secrets
import time
from collections.abc import Iterable
from typing import Final

import anyio

_VERSION_7: Final = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}")


class SystemClock:
    """The machine's clocks."""

    def time(self) -> float:
        return time.time()  # noqa: TID251 - this is the Clock port

    def monotonic(self) -> float:
        return time.monotonic()  # noqa: TID251 - this is the Clock port

    async def sleep_until(self, monotonic_seconds: float) -> None:
        await anyio.sleep_until(monotonic_seconds)  # the event loop runs on the same clock


class TimeSortedIds:
    """UUIDs of version 7: they sort by creation time, strictly within one process and after those that it follows.

    48 bits of milliseconds, a 12 bit counter within the millisecond, 62 random bits. If the wall clock steps
    back, or the counter overflows, the time of the last id continues.
    """

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock
        self._last = 0  # milliseconds and counter in one number

    def follow(self, earlier: Iterable[str]) -> None:
        """Makes new ids sort after these ids of an earlier process, also if the wall clock was set back since."""
        for known in earlier:
            if found := _VERSION_7.fullmatch(known):
                self._last = max(self._last, int("".join(found.groups()), 16))

    def new_id(self) -> str:
        now = int(self._clock.time() * 1000) << 12
        self._last = max(self._last + 1, now)
        milliseconds, counter = self._last >> 12, self._last & 0xFFF
        chance = secrets.randbits(62)
        number = milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | chance
        text = f"{number:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def chance() -> float:
    """A random number in [0, 1), to spread out clients that would otherwise act at the same time."""
    return secrets.randbits(53) / (1 << 53)
