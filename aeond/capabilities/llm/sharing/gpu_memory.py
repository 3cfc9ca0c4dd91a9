"""Whether a GPU runs short of memory because other programs came to want it, as its driver's own tool says."""

import logging
import shutil
import subprocess
from collections.abc import AsyncIterator
from typing import Final

import anyio

from aeond.ports import Clock

LOOK_SECONDS: Final = 5.0
SLACK_MIB: Final = 64  # what an engine takes and gives back while it works
ANSWER_SECONDS: Final = 20.0  # the tool takes seconds where it has to wake the driver first
PROGRAM: Final = "nvidia-smi"
QUERY: Final = ("--query-gpu=memory.free", "--format=csv,noheader,nounits")

log = logging.getLogger(__name__)


class GpuMemory:
    """The MemoryWatch over what is free on the fullest GPU.

    An engine that sets aside nearly all of a GPU makes it short by itself, which is no reason to give it back: memory
    runs short when less than `free_mib` is free, and less than when the watch began. Without the driver's tool, or
    when that fails, it says so and ends.
    """

    def __init__(self, clock: Clock, free_mib: int, program: str = PROGRAM) -> None:
        self._clock = clock
        self._free_mib = free_mib
        self._program = program

    async def shortages(self) -> AsyncIterator[str]:
        program = shutil.which(self._program)
        free = None if program is None else await _free_mib(program)
        if program is None or free is None:
            log.info("the memory of GPUs is not watched: %s does not say what is free", self._program)
            return
        least = min(self._free_mib, free - SLACK_MIB)
        while free is not None:
            if free < least:
                yield f"only {free} MiB are free on a GPU"
            await self._clock.sleep_until(self._clock.monotonic() + LOOK_SECONDS)
            free = await _free_mib(program)
        log.info("the memory of GPUs is not watched any more: %s fails", program)


async def _free_mib(program: str) -> int | None:
    """Free memory of the fullest GPU in MiB; None when the program does not report it."""
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            said = await anyio.run_process([program, *QUERY], stderr=subprocess.DEVNULL, check=False)
        return min(int(line) for line in said.stdout.decode().split())
    except (OSError, ValueError, TimeoutError):
        return None
