"""Tools that use as much as they get: processes, memory, and time."""

# ruff: noqa: TID251 - forks and sleeps are what these tools do; they run in processes of their own

import os
import signal
import struct
import threading
import time
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import tool
from aeond.domain.tools import Effect, ToolContext

MIB = 1 << 20


class Target(BaseModel):
    """Nothing is given."""


class Result(BaseModel):
    value: Any = None


@tool(effect=Effect.EXEC_CONTAINED, timeout_seconds=30.0)
def multiply(arguments: Target, context: ToolContext) -> Result:
    """Starts processes until that is refused, at most 400, and returns how many there were."""
    children: list[int] = []
    with suppress(OSError):
        for _ in range(400):
            child = os.fork()
            if child == 0:
                time.sleep(30)
                os._exit(0)
            children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return Result(value=len(children))


@tool(effect=Effect.EXEC_CONTAINED, timeout_seconds=30.0)
def swell(arguments: Target, context: ToolContext) -> Result:
    """Has eight processes use 200 MiB each, and returns how many of them live when each has it or was ended."""
    living: set[int] = set()
    holding: set[int] = set()
    ready, gate = os.pipe()
    for _ in range(8):
        child = os.fork()
        if child == 0:
            held = bytearray(200 * MIB)
            held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
            os.write(gate, struct.pack("i", os.getpid()))
            time.sleep(30)
            os._exit(0)
        living.add(child)
    os.set_blocking(ready, False)
    end = time.monotonic() + 20
    while not living <= holding and time.monotonic() < end:
        time.sleep(0.01)
        with suppress(BlockingIOError):
            holding |= {pid for (pid,) in struct.iter_unpack("i", os.read(ready, 400))}
        living -= {child for child in living if os.waitpid(child, os.WNOHANG)[0]}
    for child in living:
        os.kill(child, signal.SIGKILL)
    return Result(value=len(living))


@tool(effect=Effect.EXEC_CONTAINED, timeout_seconds=30.0)
def fill_memory_disk(arguments: Target, context: ToolContext) -> Result:
    """Writes to a file system in memory until that is refused, at most 1 GiB, and returns the MiB written."""
    written = {}
    for folder in ("/tmp", "/dev/shm"):
        count = 0
        with suppress(OSError), open(f"{folder}/fill", "wb", buffering=0) as file:
            while count < 1024:
                count += file.write(bytes(MIB)) // MIB
        with suppress(OSError):
            os.unlink(f"{folder}/fill")
        written[folder] = count
    return Result(value=written)


@tool(effect=Effect.EXEC_CONTAINED, timeout_seconds=1.0)
def outlast(arguments: Target, context: ToolContext) -> Result:
    """Ignores every signal and its clock, and computes for ever."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    for _ in range(3):
        threading.Thread(target=_spin, daemon=True).start()
    _spin()
    return Result(value="never")


def _spin() -> None:
    while True:
        pass


TOOLS = [multiply, swell, fill_memory_disk, outlast]
