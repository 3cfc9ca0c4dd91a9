"""Noticing that other programs want a GPU's memory, by what a driver's tool says."""

import logging
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.sharing.gpu_memory import GpuMemory
from aeond.concurrency import closing
from tests.support.doubles import ManualClock


def tool(folder: Path, *free: int) -> Path:
    """A program that says what is free on each GPU as the driver's tool does; `say` changes it."""
    program = folder / "nvidia-smi"
    program.write_text(f'#!/bin/sh\n[ "$1" = --query-gpu=memory.free ] && cat "{folder}/free"\n')
    program.chmod(0o755)
    say(program, *free)
    return program


def say(program: Path, *free: int) -> None:
    (program.parent / "free").write_text("".join(f"{count}\n" for count in free))


async def shortages_at(
    watch: GpuMemory, clock: "CountingClock", program: Path, *looks: tuple[int, ...]
) -> list[str]:
    """The reports of the watch when so much memory is free at its looks after the first."""
    said: list[str] = []

    async def listen() -> None:
        async with closing(watch.shortages()) as shortages:
            async for why in shortages:
                said.append(why)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        with anyio.fail_after(60):
            for free in looks:
                while not clock.sleepers:
                    await anyio.lowlevel.checkpoint()
                say(program, *free)
                clock.advance(5)
                await anyio.lowlevel.checkpoint()
            while not clock.sleepers:
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    return said


class CountingClock(ManualClock):
    """Knows how many sleep."""

    sleepers = 0

    async def sleep_until(self, monotonic_seconds: float) -> None:
        self.sleepers += 1
        try:
            await super().sleep_until(monotonic_seconds)
        finally:
            self.sleepers -= 1


async def test_the_engines_own_memory_is_no_shortage(tmp_path: Path) -> None:
    """A GPU that is nearly full when the watch begins is no shortage; only a marked drop below that level is."""
    clock, program = CountingClock(), tool(tmp_path, 800)
    watch = GpuMemory(clock, 1_024, str(program))
    said = await shortages_at(watch, clock, program, (800,), (760,), (500,), (400,), (900,))
    assert said == ["only 500 MiB are free on a GPU", "only 400 MiB are free on a GPU"]


async def test_the_fullest_of_several_counts(tmp_path: Path) -> None:
    """With several GPUs memory is short as soon as it is on one of them."""
    clock, program = CountingClock(), tool(tmp_path, 70_000, 60_000)
    watch = GpuMemory(clock, 1_024, str(program))
    said = await shortages_at(watch, clock, program, (70_000, 2_000), (1_000, 60_000), (70_000, 60_000))
    assert said == ["only 1000 MiB are free on a GPU"]


@pytest.mark.parametrize("says", ["[N/A]", "", "No devices were found"])
async def test_a_tool_that_does_not_say_is_not_asked_again(
    tmp_path: Path, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    """If free memory cannot be measured, the watch logs that and ends."""
    caplog.set_level(logging.INFO)
    program = tool(tmp_path)
    (tmp_path / "free").write_text(says)
    for name in (str(program), "no-such-tool"):
        async with closing(GpuMemory(ManualClock(), 1_024, name).shortages()) as shortages:
            assert await anext(shortages, None) is None
    assert caplog.text.count("not watched") == 2
