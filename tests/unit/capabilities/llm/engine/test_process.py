"""A child process is known by what it says and how it ends, and is never left over."""

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup

from aeond.capabilities.llm.engine.process import (
    PID_FILE,
    EngineProcess,
    clean_environment,
    describe_exit,
    engine_process,
    mapped_bytes,
    start_ticks,
    sweep,
)
from aeond.errors import LLMError, LLMGoneError
from tests.support.repository import ROOT

ENVIRONMENT = {"LANG": "C.UTF-8"}
WAIT = "import sys; sys.stdin.read()"
READY = "print('{\"ready\": true}', flush=True); "


@pytest.fixture
async def tasks() -> AsyncIterator[TaskGroup]:
    async with anyio.create_task_group() as group:
        yield group


def program(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


async def test_ready_is_what_the_program_says(tmp_path: Path, tasks: TaskGroup) -> None:
    """Other lines on standard output are passed over until the program says that it is ready."""
    code = "print('hello'); print('[]'); " + READY + WAIT
    async with engine_process(program(code), tmp_path, ENVIRONMENT, tasks) as process:
        with anyio.fail_after(60):
            await process.wait_ready()
        noted = json.loads((tmp_path / PID_FILE).read_text())
        assert noted == {"pid": process.pid, "start_ticks": start_ticks(process.pid)}
        assert os.getpgid(process.pid) == process.pid
    assert start_ticks(process.pid) is None
    assert not (tmp_path / PID_FILE).exists()


async def test_a_refusal_is_reported_in_the_programs_words(tmp_path: Path, tasks: TaskGroup) -> None:
    """A program that says why it cannot start is quoted, with the errors that it logged."""
    code = (
        "import sys; print('0.1 I fine', file=sys.stderr); print('0.2 E bad magic', file=sys.stderr); "
        'print(\'{"error": "no model"}\')'
    )
    async with engine_process(program(code), tmp_path, ENVIRONMENT, tasks) as process:
        with anyio.fail_after(60), pytest.raises(LLMError, match="no model; bad magic") as failed:
            await process.wait_ready()
    assert failed.value.reason == "MODEL_UNUSABLE"
    assert not failed.value.retryable


async def test_an_end_without_a_word_is_a_death(tmp_path: Path, tasks: TaskGroup) -> None:
    """A program that ends before it is ready is gone, whatever its exit code."""
    for code, said in (("", "exit code 0"), ("import os; os.abort()", "SIGABRT")):
        async with engine_process(program(code), tmp_path, ENVIRONMENT, tasks) as process:
            with anyio.fail_after(60), pytest.raises(LLMGoneError, match=said):
                await process.wait_ready()


async def test_killing_takes_the_whole_group(tmp_path: Path, tasks: TaskGroup) -> None:
    """Processes that the program started end with it."""
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE); "
        "print(child.pid, file=sys.stderr, flush=True); " + READY + WAIT
    )
    async with engine_process(program(code), tmp_path, ENVIRONMENT, tasks) as process:
        with anyio.fail_after(60):
            await process.wait_ready()
            while not process.log:
                await anyio.lowlevel.checkpoint()
        child = int(process.log)
        process.kill()
        assert await process.ended() == "killed by SIGKILL"
    with anyio.fail_after(60):
        while is_running(child):
            await anyio.lowlevel.checkpoint()


def is_running(pid: int) -> bool:
    """Whether there is such a process that is not just waiting to be buried."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


async def test_the_log_is_bounded(tmp_path: Path, tasks: TaskGroup) -> None:
    """A program that writes without end costs no more than its last lines."""
    code = (
        "import sys; sys.stderr.write('x' * 300_000 + '\\n'); [print(n, file=sys.stderr) for n in range(500)]; "
        + READY
        + WAIT
    )
    async with engine_process(program(code), tmp_path, ENVIRONMENT, tasks) as process:
        with anyio.fail_after(60):
            await process.wait_ready()
            while not process.log.endswith("\n499"):
                await anyio.lowlevel.checkpoint()
        assert process.log.splitlines() == [str(number) for number in range(460, 500)]


async def left_over(folder: Path, tasks: TaskGroup, mark: str) -> EngineProcess:
    """A process whose daemon crashed: it runs on, and its pid file is still there."""
    entered = engine_process(program(READY + WAIT, mark), folder, ENVIRONMENT, tasks)
    process = await entered.__aenter__()
    with anyio.fail_after(60):
        await process.wait_ready()
    return process


async def test_a_leftover_is_swept(tmp_path: Path, tasks: TaskGroup) -> None:
    """An engine that a crashed daemon left behind is killed by the next one."""
    process = await left_over(tmp_path, tasks, str(tmp_path / "engine.sock"))
    assert sweep(tmp_path) == process.pid
    await process.ended()  # by its own accord it would never end
    assert start_ticks(process.pid) is None
    assert sweep(tmp_path) is None


@pytest.mark.parametrize("lie", ["time", "folder"])
async def test_others_are_not_swept(tmp_path: Path, tasks: TaskGroup, lie: str) -> None:
    """A process that only has the pid, with another start or another command line, is left alone."""
    process = await left_over(tmp_path, tasks, "elsewhere" if lie == "folder" else str(tmp_path))
    if lie == "time":
        noted = json.loads((tmp_path / PID_FILE).read_text())
        (tmp_path / PID_FILE).write_text(json.dumps({**noted, "start_ticks": noted["start_ticks"] + 1}))
    assert sweep(tmp_path) is None
    assert start_ticks(process.pid) is not None
    assert not (tmp_path / PID_FILE).exists()
    process.kill()
    await process.ended()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"pid": "x", "start_ticks": 1}', '{"pid": 0, "start_ticks": null}']
)
def test_a_broken_pid_file_ends_no_process(tmp_path: Path, content: str) -> None:
    """A pid file that cannot be read is removed and no process is killed."""
    (tmp_path / PID_FILE).write_text(content)
    assert sweep(tmp_path) is None
    assert not (tmp_path / PID_FILE).exists()


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (-11, "killed by SIGSEGV"), (-99, "killed by signal 99")]
)
def test_exits_are_reported_in_words(code: int, words: str) -> None:
    """An exit code is described by its meaning."""
    assert describe_exit(code) == words


def test_the_engine_knows_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's environment has none of the daemon's variables, and tells it not to spin."""
    monkeypatch.setenv("AEOND_SECRET", "x")
    environment = clean_environment()
    assert "AEOND_SECRET" not in environment
    assert environment["OMP_WAIT_POLICY"] == "passive"


def test_the_unit_and_the_child_wait_alike() -> None:
    """The engine's threads wait in its unit of systemd as they do in a child of the daemon."""
    unit = (ROOT / "systemd" / "system" / "aeond-engine.service").read_text(encoding="utf-8")
    _, _, words = next(line for line in unit.splitlines() if line.startswith("Environment=")).partition("=")
    given = dict(word.split("=", 1) for word in words.split())
    assert {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} <= set(given)
    assert given.items() <= clean_environment().items()


def test_how_much_of_its_files_a_process_has_in_memory() -> None:
    """A living process has some of its program in memory, one that is gone has nothing."""
    assert 1 << 20 < mapped_bytes(os.getpid()) < 1 << 32
    assert mapped_bytes(1 << 30) == 0
