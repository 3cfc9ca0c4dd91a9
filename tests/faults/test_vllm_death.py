"""vLLM's core, its server and, in the long variant, both are killed under runs that stream: runs wait, and each answer is whole."""

import contextlib
import itertools
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from aeond.domain.llm import EngineState
from aeond.errors import LLMError
from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.events import TextDelta
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.collecting import Collector
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.engine import MODELS, ask
from tests.support.vllm import (
    ENVIRONMENT,
    START_SECONDS,
    VllmProcesses,
    needs_vllm,
    processes_in,
    running_vllm,
    shared_memory,
)

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

ASKED = ("Count from one to ten in words.", "Write two sentences about a fox.")
PLAN = Plan("say much", tuple(PlanStep(f"s{n}", text, agent="llm") for n, text in enumerate(ASKED)))
VICTIMS = ("core", "server", "both")


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A daemon whose model vLLM runs."""
    needs_vllm()
    sections = {
        "model": {
            "engine": "vllm",
            "name": "smollm2-135m-instruct",
            "models_dir": str(MODELS),
            "context_tokens": 512,
            "script": "",
        },
        "vllm": {
            "environment": str(ENVIRONMENT),
            "device": "cpu",
            "dtype": "float32",
            "enforce_eager": True,
            "start_seconds": START_SECONDS,
        },
    }
    with daemon_folder() as folder:
        daemon = DaemonProcess(folder, sections)
        try:
            yield daemon.start(START_SECONDS)
        finally:
            daemon.end()


def engine_folder(daemon: DaemonProcess) -> Path:
    return daemon.folder / "aeond.sock.engine"


def killed(processes: VllmProcesses, victim: str) -> None:
    """SIGKILL for the core, the server or both."""
    if victim in {"core", "both"}:
        for core in processes.cores:
            core.send_signal(signal.SIGKILL)
    if victim in {"server", "both"}:
        processes.server.send_signal(signal.SIGKILL)


def wait_until_gone(processes: VllmProcesses) -> None:
    psutil.wait_procs(processes.all, timeout=60)
    assert processes.are_gone()


def answers(daemon: DaemonProcess, victim: str = "") -> list[str]:
    """The outputs of a run's steps when that part of the engine was killed while they were generated."""
    with Client(daemon.socket) as client:
        run = client.create_run("say much", RunOptions(plan=PLAN))
        with Collector(str(daemon.socket), run.run_id) as seen:
            if victim:
                assert seen.wait(is_amid, START_SECONDS)
                processes = processes_in(engine_folder(daemon))
                killed(processes, victim)
                wait_until_gone(processes)
            seen.wait_for_end(START_SECONDS)
        ended = client.get_run(run.run_id)
        assert ended.state is RunState.SUCCEEDED, (
            ended.answer,
            [(step.reason, step.error) for step in ended.steps],
        )
        for step in ended.steps:
            assert seen.text_of(step.step_id) == step.output
    return [str(step.output) for step in ended.steps]


def is_amid(seen: Collector) -> bool:
    """Whether a text has gone on, not only begun."""
    return any(isinstance(event.kind, TextDelta) and event.kind.offset > 20 for event in seen.events)


@pytest.mark.parametrize(
    "kills",
    [
        2,
        *(
            pytest.param(10, marks=pytest.mark.nightly, id=f"{piece} ten of twenty")
            for piece in ("first", "last")
        ),
    ],
)
def test_runs_survive_every_death_and_no_word_comes_twice(daemon: DaemonProcess, kills: int) -> None:
    """Whichever part of the engine is killed in mid-stream, the run ends with the very answers of an undisturbed one,
    nothing of the old engine is left, and the deaths are counted."""
    undisturbed = answers(daemon)
    with Client(daemon.socket) as client:
        before = client.get_status().engine.restarts
    for number, victim in enumerate(itertools.islice(itertools.cycle(VICTIMS), kills), 1):
        assert answers(daemon, victim) == undisturbed
        if number % 4 == 0 or number == kills > 4:
            # After five deaths in a short time restarts would stop; an explicit load resets the count.
            with Client(daemon.admin_socket) as client:
                client.unload_model()
                client.load_model()
    with Client(daemon.socket) as client:
        engine = client.get_status().engine
    assert engine.restarts == before + kills


def test_a_killed_daemon_leaves_nothing_behind(daemon: DaemonProcess) -> None:
    """After SIGKILL of the daemon, none of its engine's processes, sockets, ports or shared memory remain;
    before it, the ports were not reachable from another machine."""
    answers(daemon)
    folder = engine_folder(daemon)
    processes = processes_in(folder)
    ports = ports_of(processes)
    assert {host for host, _ in ports} <= {"127.0.0.1", "::1"}
    shared = segments(processes)
    daemon.kill()
    wait_until_gone(processes)
    assert not (folder / "engine.sock").exists()
    assert not (folder / "t").exists()
    assert not shared & shared_memory()
    assert not any(is_open(*address) for address in ports)


def ports_of(processes: VllmProcesses) -> set[tuple[str, int]]:
    """Hosts and ports on which they listen."""
    sockets = [one for process in processes.all for one in process.net_connections("inet")]
    return {(one.laddr.ip, one.laddr.port) for one in sockets if one.status == psutil.CONN_LISTEN}


def is_open(host: str, port: int) -> bool:
    """Whether the port accepts connections."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=5):
        return True
    return False


def segments(processes: VllmProcesses) -> set[str]:
    """The names of the shared memory that the engine's processes have; its semaphores say another one of themselves."""
    maps = [Path(f"/proc/{one.pid}/maps").read_text(encoding="utf-8") for one in processes.all]
    mapped = [line.split() for text in maps for line in text.splitlines() if " /dev/shm/" in line]
    numbers = {int(fields[4]) for fields in mapped}
    found = {path.name for path in Path("/dev/shm").iterdir() if path.stat().st_ino in numbers}
    assert found
    return found


async def test_want_of_memory_at_the_start_says_what_to_change(tmp_path: Path) -> None:
    """An engine whose memory does not hold one request fails at once, with the settings that help, and is not tried
    in a loop."""
    async with running_vllm(tmp_path, kv_cache_gib=0.001) as running:
        with pytest.raises(LLMError, match=r"vllm\.kv_cache_gib.*model\.context_tokens") as failed:
            await running.llm.generate(ask("Hello."))
        assert failed.value.reason == "ENGINE_OUT_OF_MEMORY"
        assert running.engine.snapshot().state is EngineState.DEAD
        assert running.engine.snapshot().restarts == 0


@pytest.mark.nightly
async def test_a_core_that_stands_still_is_replaced(tmp_path: Path) -> None:
    """A stopped core is found by its silence and by the probe that it does not answer, and the call goes on."""
    async with running_vllm(tmp_path, stall_seconds=10.0) as running:
        await running.llm.generate(ask("Hello.", max_tokens=2))
        for core in processes_in(running.folder).cores:
            core.send_signal(signal.SIGSTOP)
        assert (await running.llm.generate(ask("Hello.", max_tokens=2, deadline_seconds=START_SECONDS))).text
        assert running.engine.snapshot().restarts == 1
