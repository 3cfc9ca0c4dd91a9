"""An engine in a unit of systemd, whose part a socket of the tests' own plays here."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from aeond.capabilities.llm.engine.systemd_unit import engine_unit
from aeond.errors import LLMError, LLMGoneError
from tests.support.engine import ask, running_engine
from tests.support.engine_sockets import engine_socket

pytestmark = pytest.mark.slow

# Records its arguments and environment, reports that it is ready, and stays until its connection ends.
PROGRAM = """
import json, os, sys
from pathlib import Path
Path(sys.argv[1]).write_text(json.dumps([sys.argv[3], os.environ["MOOD"], os.getpid()]))
print('{"activity": "waking", "progress": 0.5}')
print('{"ready": true}', flush=True)
sys.stdin.read()
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Path]:
    with engine_socket(tmp_path / "host.sock") as path:
        yield path


@pytest.mark.model
async def test_a_connection_starts_an_engine_and_its_close_ends_it(address: Path, tmp_path: Path) -> None:
    """The first request starts the unit's host, it answers, an unload ends it and a request starts another."""
    async with running_engine(
        tmp_path, program=(), start=partial(engine_unit, address), slots=1, threads=1
    ) as running:
        answer = await running.llm.generate(ask("Say hello.", max_tokens=4))
        assert answer.text
        (first,) = hosts()
        await running.engine.unload()
        assert hosts() == []
        await running.llm.generate(ask("Say hello.", max_tokens=4))
        assert hosts() not in ([], [first])
    assert hosts() == []


@pytest.mark.model
async def test_a_killed_engine_is_started_again(address: Path, tmp_path: Path) -> None:
    """When the unit's process dies, the engine says so and the next request is answered by another."""
    async with running_engine(
        tmp_path, program=(), start=partial(engine_unit, address), slots=1, threads=1
    ) as running:
        await running.llm.generate(ask("Say hello.", max_tokens=4))
        (first,) = hosts()
        first.kill()
        assert (await running.llm.generate(ask("Say hello.", max_tokens=4))).text
        assert running.engine.snapshot().restarts == 1


async def test_another_program_runs_as_the_unit(address: Path, tmp_path: Path) -> None:
    """A command with a path runs as the unit, with its environment and the unit's own parent as `--parent`, and ends
    with the block."""
    report, shown = tmp_path / "report", []
    command = [sys.executable, "-c", PROGRAM, str(report), "--parent", "-1"]
    async with anyio.create_task_group() as tasks:
        async with engine_unit(address, command, tmp_path, {"MOOD": "calm"}, tasks) as unit:
            await unit.wait_ready(lambda activity, done: shown.append((activity, done)))
            parent, mood, pid = json.loads(report.read_text(encoding="utf-8"))
            assert (mood, pid, shown) == ("calm", unit.pid, [("waking", 0.5)])
            assert int(parent) == psutil.Process(pid).ppid()
        assert pid not in [process.pid for process in started()]


async def test_a_program_that_is_not_there_is_reported(address: Path, tmp_path: Path) -> None:
    """A command that cannot be run fails with its path and the reason."""
    async with (
        anyio.create_task_group() as tasks,
        engine_unit(address, ["/nowhere/python"], tmp_path, {}, tasks) as unit,
    ):
        with pytest.raises(LLMError, match="/nowhere/python cannot be run"):
            await unit.wait_ready()


async def test_an_error_of_the_host_is_reported(tmp_path: Path) -> None:
    """A host that cannot load its model fails with its words; its process is killed when it stays."""
    with subprocess.Popen(["sleep", "600"]) as process:
        with saying(tmp_path / "host.sock", {"pid": process.pid}, {"error": "no model at all"}) as address:
            async with (
                anyio.create_task_group() as tasks,
                engine_unit(address, [], tmp_path, {}, tasks) as unit,
            ):
                with pytest.raises(LLMError, match="cannot load this model: no model at all") as caught:
                    await unit.wait_ready()
                assert caught.value.reason == "MODEL_UNUSABLE"
        assert process.wait() == -signal.SIGKILL


async def test_the_error_of_a_host_that_has_gone_is_reported(tmp_path: Path) -> None:
    """A host that fails and ends before the daemon has looked at its process still fails with its words."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with saying(tmp_path / "host.sock", {"pid": process.pid}, {"error": "no model at all"}) as address:
        async with (
            anyio.create_task_group() as tasks,
            engine_unit(address, [], tmp_path, {}, tasks) as unit,
        ):
            with pytest.raises(LLMError, match="no model at all"):
                await unit.wait_ready()
            assert await unit.ended() == "its unit ended"


async def test_a_unit_that_does_not_start_is_reported(tmp_path: Path) -> None:
    """A socket without a listener, or one that closes a connection at once, is a dead engine with advice."""
    async with anyio.create_task_group() as tasks:
        with pytest.raises(LLMGoneError, match=r"systemctl restart aeond-engine\.socket"):
            async with engine_unit(tmp_path / "none.sock", [], tmp_path, {}, tasks):
                pass
        answers: list[list[dict[str, object]]] = [[], [{"pid": 0}], [{"pid": "x"}], [{"other": 1}]]
        for number, said in enumerate(answers):
            failure = pytest.raises(LLMGoneError, match="journalctl -u aeond-engine")
            with saying(tmp_path / f"{number}.sock", *said) as address, failure:
                async with engine_unit(address, [], tmp_path, {}, tasks):
                    pass


@contextlib.contextmanager
def saying(path: Path, *lines: dict[str, Any]) -> Iterator[Path]:
    """Says these lines to the first who connects, and closes."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def say() -> None:
            with listener.accept()[0] as connection:
                connection.recv(1 << 10)
                connection.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in lines))

        thread = threading.Thread(target=say)
        thread.start()
        yield path
        thread.join()


def started() -> list[psutil.Process]:
    """Units that the sockets of this process started and that have not ended."""
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # its parent saw it end meanwhile
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def hosts() -> list[psutil.Process]:
    """The engines' hosts among them."""
    found: list[psutil.Process] = []
    for process in started():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "aeond.capabilities.llm.engine.unit_host" in process.cmdline():
                found.append(process)
    return found
