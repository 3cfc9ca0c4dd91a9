"""Whether this machine runs short of memory, as the kernel sees it: pressure stall information.

The service manager may say what to watch, by the protocol of https://systemd.io/MEMORY_PRESSURE: a file to poll for
priority data after something was written to it (the kernel's own interface, for one group of processes), or a
FIFO or socket to read from. By default it is the whole machine's pressure: the engine may be a process of
another group, and a shortage affects every process. Processes that wait because their own group is at its limit count for the
machine, too: it runs short only if little memory is available.
"""

import asyncio
import base64
import binascii
import logging
import os
import re
import select
import socket
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import anyio

from aeond.frozen import frozen

MACHINE: Final = Path("/proc/pressure/memory")
# A fifth of a second of waiting for memory within two seconds; an ordinary user may ask for no finer window. The
# kernel takes the last byte for the end of the text, whatever it is.
TRIGGER: Final = b"some 200000 2000000\0"
AVAILABLE: Final = Path("/proc/meminfo")
SHORT_SHARE: Final = 0.2  # of the memory of the machine
MAX_READ_BYTES: Final = 4096

_SIZE: Final = re.compile(r"^(\w+): +(\d+) kB$", re.MULTILINE)

log = logging.getLogger(__name__)


@frozen
class PressureSource:
    """What to watch, and what to write to it first; no path: nothing is to be watched."""

    path: Path | None
    write: bytes
    available: Path | None = None  # says how much memory there is, where the pressure alone does not


def source_from_environment(environment: Mapping[str, str] = os.environ) -> PressureSource:
    """What the service manager says by MEMORY_PRESSURE_WATCH and MEMORY_PRESSURE_WRITE."""
    watch = environment.get("MEMORY_PRESSURE_WATCH", "")
    if not watch:
        return PressureSource(MACHINE, TRIGGER, AVAILABLE)
    path = Path(watch)
    try:
        written = base64.b64decode(environment.get("MEMORY_PRESSURE_WRITE", ""), validate=True)
    except binascii.Error:
        log.warning("MEMORY_PRESSURE_WRITE is not base64: memory pressure is not watched")
        return PressureSource(None, b"")
    return PressureSource(None if watch == "/dev/null" or not path.is_absolute() else path, written)


class MemoryPressure:
    """The MemoryWatch over this source; logs and ends when the source cannot be watched."""

    def __init__(self, source: PressureSource) -> None:
        self._source = source

    async def shortages(self) -> AsyncIterator[str]:
        if self._source.path is None:
            return
        with ExitStack() as stack:
            try:
                pressure = _Pressure(self._source.path, self._source.write, stack)
                while True:
                    await pressure.wait()
                    if self._source.available and available_share(self._source.available) > SHORT_SHARE:
                        continue
                    yield "memory runs short on this machine"
            except (OSError, EOFError) as error:
                log.info("memory pressure is not watched: %s: %s", self._source.path, error)


class _Pressure:
    """An open source of pressure events, closed with the stack."""

    def __init__(self, path: Path, write: bytes, stack: ExitStack) -> None:
        mode = path.stat().st_mode
        # A FIFO or socket is read, a file is polled for priority data.
        self._speaks = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        if stat.S_ISSOCK(mode):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.setblocking(False)
            connection.connect(str(path))
            self._descriptor = connection.fileno()
        else:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
            stack.callback(os.close, self._descriptor)
        if write:
            os.write(self._descriptor, write)

    async def wait(self) -> None:
        if self._speaks:
            await anyio.wait_readable(self._descriptor)
            if not os.read(self._descriptor, MAX_READ_BYTES):
                raise EOFError("it ended")
            return
        await priority_data(self._descriptor)


def available_share(path: Path) -> float:
    """The share of memory that is available without swapping, from 0 to 1; 0 if the file does not say it. Raises OSError."""
    sizes = dict(_SIZE.findall(path.read_text("ascii")))
    return int(sizes.get("MemAvailable", 0)) / max(1, int(sizes.get("MemTotal", 0)))


async def priority_data(descriptor: int) -> None:
    """Returns when there is priority data. EOFError when what it would come from is gone."""
    loop, pressed = asyncio.get_running_loop(), anyio.Event()
    with ExitStack() as stack:
        # The loop's own selector knows no priority data; an epoll descriptor is readable when it has come.
        epoll = stack.enter_context(select.epoll())
        epoll.register(descriptor, select.EPOLLPRI)
        loop.add_reader(epoll.fileno(), pressed.set)
        stack.callback(loop.remove_reader, epoll.fileno())
        await pressed.wait()
        # The kernel reports a shortage once, and the loop has received it; only an error can still be pending.
        if any(events & select.EPOLLERR for _, events in epoll.poll(0, 1)):
            raise EOFError("the group of processes that it reports is gone")
