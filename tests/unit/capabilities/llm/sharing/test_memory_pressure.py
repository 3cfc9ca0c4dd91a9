"""Notifications of memory pressure, by the protocols of the kernel and of the service manager."""

import base64
import logging
import os
import socket
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.sharing import memory_pressure
from aeond.capabilities.llm.sharing.memory_pressure import (
    AVAILABLE,
    MACHINE,
    TRIGGER,
    MemoryPressure,
    PressureSource,
    available_share,
    priority_data,
    source_from_environment,
)
from aeond.concurrency import closing


def test_the_environment_chooses_the_watched_file() -> None:
    """The environment sets the path and the first words: unset means the machine's own file, /dev/null or an invalid
    value means no watch."""
    assert source_from_environment({}) == PressureSource(MACHINE, TRIGGER, AVAILABLE)
    words = base64.b64encode(b"some 1 2").decode()
    source = {"MEMORY_PRESSURE_WATCH": "/sys/fs/cgroup/x/memory.pressure", "MEMORY_PRESSURE_WRITE": words}
    assert source_from_environment(source) == PressureSource(
        Path("/sys/fs/cgroup/x/memory.pressure"), b"some 1 2"
    )
    assert source_from_environment({"MEMORY_PRESSURE_WATCH": "/dev/null"}).path is None
    assert source_from_environment({"MEMORY_PRESSURE_WATCH": "not/absolute"}).path is None
    assert source_from_environment({**source, "MEMORY_PRESSURE_WRITE": "not base64!"}).path is None


async def test_a_fifo_tells_each_time(tmp_path: Path) -> None:
    """Each write to a FIFO is one shortage."""
    fifo = tmp_path / "pressure"
    os.mkfifo(fifo)
    with anyio.fail_after(60):
        async with closing(MemoryPressure(PressureSource(fifo, b"")).shortages()) as shortages:
            for _ in range(3):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(write_when_open, fifo)
                    assert "memory" in await anext(shortages)


async def test_where_memory_is_available_none_runs_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pressure tells of a shortage of the machine only once little of its memory is available."""
    fifo = tmp_path / "pressure"
    os.mkfifo(fifo)
    asked: list[Path] = []

    def share(path: Path) -> float:
        asked.append(path)
        if len(asked) > 1:
            return 0.1
        fifo.write_bytes(b"x")  # the next time, less is available
        return 0.6

    monkeypatch.setattr(memory_pressure, "available_share", share)
    source = PressureSource(fifo, b"", AVAILABLE)
    with anyio.fail_after(60):
        async with (
            closing(MemoryPressure(source).shortages()) as shortages,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(write_when_open, fifo)
            assert "memory" in await anext(shortages)
    assert asked == [AVAILABLE, AVAILABLE]


def test_the_available_memory_is_a_share_of_all(tmp_path: Path) -> None:
    """The share is what the kernel says is available, of all memory; 0 where it does not say."""
    sizes = tmp_path / "meminfo"
    sizes.write_text("MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:    600 kB\n", "ascii")
    assert available_share(sizes) == 0.6
    sizes.write_text("HugePages_Total: 0\n", "ascii")
    assert available_share(sizes) == 0
    assert 0 < available_share(AVAILABLE) <= 1


async def write_when_open(fifo: Path) -> None:
    """Writes to a FIFO once it has a reader."""
    while True:
        try:
            descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            await anyio.lowlevel.checkpoint()
        else:
            os.write(descriptor, b"!")
            os.close(descriptor)
            return


async def test_a_socket_tells_and_may_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A socket receives the trigger, each message from it is a shortage, and its end is the end of the watch."""
    caplog.set_level(logging.INFO)
    path = tmp_path / "pressure.sock"
    with socket.socket(socket.AF_UNIX) as listener, anyio.fail_after(60):
        listener.bind(str(path))
        listener.listen()
        async with closing(MemoryPressure(PressureSource(path, b"some 5 6")).shortages()) as shortages:

            async def tell() -> None:
                await anyio.wait_readable(listener)
                connection, _ = listener.accept()
                with connection:
                    await anyio.wait_readable(connection)
                    assert connection.recv(64) == b"some 5 6"
                    connection.send(b"!")

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(tell)
                assert "memory" in await anext(shortages)
            assert await anext(shortages, None) is None
    assert "not watched" in caplog.text


async def test_priority_data_is_waited_for() -> None:
    """Only an urgent event of the kernel ends the wait."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as sender,
        listener.accept()[0] as receiver,
        anyio.fail_after(60),
    ):
        sender.send(b"ordinary")
        with anyio.move_on_after(0.05) as waiting:
            await priority_data(receiver.fileno())
        assert waiting.cancelled_caught
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(priority_data, receiver.fileno())
            await anyio.wait_all_tasks_blocked()
            sender.send(b"!", socket.MSG_OOB)


async def test_a_group_that_is_gone_ends_the_wait() -> None:
    """A file that has nothing more to tell about is no shortage."""
    with socket.socket() as unconnected, pytest.raises(EOFError, match="gone"):
        unconnected.setblocking(False)
        unconnected.connect_ex(("127.0.0.1", 1))  # refused: an error is all that it has
        with anyio.fail_after(60):
            await priority_data(unconnected.fileno())


async def test_the_kernel_takes_what_we_ask_for() -> None:
    """This machine's own pressure file, where there is one, is watched as it is asked to be."""
    if not MACHINE.exists():  # a kernel without it: then the watch ends by itself, as below
        return
    source = "?"
    with anyio.move_on_after(1):
        async with closing(MemoryPressure(source_from_environment({})).shortages()) as shortages:
            source = await anext(shortages, "refused")
    assert source != "refused"


@pytest.mark.parametrize("path", ["nothing there", "a plain file"])
async def test_an_unwatchable_file_ends_the_watch(
    tmp_path: Path, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the kernel's support, or with a file that cannot be polled, the watch logs that and ends."""
    caplog.set_level(logging.INFO)
    (tmp_path / "a plain file").write_text("")
    with anyio.fail_after(60):
        async with closing(MemoryPressure(PressureSource(tmp_path / path, b"")).shortages()) as shortages:
            assert await anext(shortages, None) is None
    assert "not watched" in caplog.text
