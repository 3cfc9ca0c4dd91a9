"""Tools that programs serve, between the real daemon and the clients."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond_client import (
    AeondError,
    AsyncServedTools,
    CallContext,
    Client,
    ClientTool,
    Plan,
    PlanStep,
    Resolution,
    Run,
    RunOptions,
    RunState,
    ServedTools,
    StepState,
    ToolFailure,
    tool,
)
from aeond_client.events import RunSuspended
from tests.support.aeonctl import command, environment
from tests.support.cutting_proxy import CuttingProxy
from tests.support.daemon_process import DaemonProcess, daemon_folder

SECONDS = 30.0


@tool(effect="read", example={"name": "Ann"})
def greet(name: str) -> str:
    """Greets a person."""
    return f"Hello, {name}!"


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A real daemon with a scripted model."""
    with daemon_folder() as folder, DaemonProcess(folder) as daemon:
        yield daemon


class Gate:
    """A tool that says when a call has begun, and ends it when the test says so."""

    def __init__(self, effect: str = "read", timeout_seconds: float = 0.0) -> None:
        self.begun = threading.Semaphore(0)
        self.open = threading.Event()
        self.contexts: list[CallContext] = []

        @tool(effect=effect, timeout_seconds=timeout_seconds)
        def hold(context: CallContext) -> int:
            """Waits at the gate."""
            self.contexts.append(context)
            self.begun.release()
            assert self.open.wait(SECONDS)
            return len(self.contexts)

        self.tool: ClientTool = hold

    def wait(self) -> None:
        assert self.begun.acquire(timeout=SECONDS), "no call began"


def calling(tool_name: str, **arguments: Any) -> RunOptions:
    return RunOptions(plan=Plan("", (PlanStep("s1", "", tool_name, arguments),)))


def ended(client: Client, run: Run) -> Run:
    with client.watch(run.run_id) as events:
        for _ in events:
            pass
    return client.get_run(run.run_id)


def test_a_run_calls_a_tool_of_a_program(daemon: DaemonProcess) -> None:
    """The step's output is what the function returned, and the run is tainted by it."""
    with Client(daemon.socket) as client, ServedTools([greet], source="test", socket=daemon.socket):
        assert client.get_tool("greet").source == "client:test"
        run = ended(client, client.create_run("greet Ann", calling("greet", name="Ann")))
        assert (run.state, run.steps[0].output, run.taint) == (
            RunState.SUCCEEDED,
            "Hello, Ann!",
            ("tool:greet",),
        )
        assert client.call_tool("greet", {"nam": "Ann"}).reason == "ARGUMENTS_INVALID"
    with Client(daemon.socket) as client:
        assert "greet" not in {found.name for found in client.list_tools()}


def test_a_tool_without_a_declared_effect_is_asked_about(daemon: DaemonProcess) -> None:
    """Undeclared counts as the worst: a direct call of it needs an approval."""

    def wipe() -> None:
        """Wipes everything."""

    with Client(daemon.socket) as client, ServedTools([wipe], socket=daemon.socket):
        assert client.call_tool("wipe").reason == "APPROVAL_REQUIRED"


def test_a_tool_that_exits_is_a_failed_call(daemon: DaemonProcess) -> None:
    """A function that calls sys.exit, as parsers of command lines do, fails its call alone; one call at a time leaves room for
    the next."""

    @tool(effect="read")
    def leave() -> None:
        """Leaves."""
        sys.exit("usage: leave NOW")

    with Client(daemon.socket) as client, ServedTools([leave, greet], socket=daemon.socket, max_calls=1):
        left = client.call_tool("leave")
        assert (left.reason, left.error) == ("TOOL_RAISED", "SystemExit: usage: leave NOW")
        assert client.call_tool("greet", {"name": "Ann"}).data == "Hello, Ann!"


def test_a_name_that_is_taken_is_an_error_with_its_place(daemon: DaemonProcess) -> None:
    """Entering raises what the daemon reports: nothing is served under another program's name."""
    with ServedTools([greet], socket=daemon.socket), pytest.raises(AeondError) as raised:
        ServedTools([greet], socket=daemon.socket).__enter__()
    assert (raised.value.reason, raised.value.field) == ("TOOL_EXISTS", "offer.tools[0].name")


@tool(effect="read")
def bad(kind: str) -> object:
    """Has a result that the daemon cannot accept."""
    match kind:
        case "long":
            return "x" * (5 << 20)
        case "surrogate":
            return "\ud800"
        case _:
            raise OSError("\udcff cannot be read")


@pytest.mark.parametrize(
    ("kind", "reason", "error"),
    [
        ("long", "OUTPUT_TOO_LARGE", "1048576 bytes"),
        ("surrogate", "OUTPUT_INVALID", "not valid JSON"),
        ("raised", "TOOL_RAISED", "? cannot be read"),
    ],
)
def test_a_bad_result_fails_its_call_alone(daemon: DaemonProcess, kind: str, reason: str, error: str) -> None:
    """The call fails with the cause, and the program serves its tools on."""
    with Client(daemon.socket) as client, ServedTools([bad, greet], socket=daemon.socket):
        result = client.call_tool("bad", {"kind": kind})
        assert (result.success, result.reason) == (False, reason)
        assert error in result.error
        assert client.call_tool("greet", {"name": "Di"}).data == "Hello, Di!"


async def test_async_functions_run_on_the_event_loop(daemon: DaemonProcess) -> None:
    """A failure that an async function raises is a result with its reason."""

    @tool(effect="read")
    async def fail() -> None:
        """Fails."""
        await anyio.lowlevel.checkpoint()
        raise ToolFailure("nothing there", "EMPTY")

    def call() -> tuple[str, str]:
        with Client(daemon.socket) as client:
            result = client.call_tool("fail")
            return result.error, result.reason

    async with AsyncServedTools([fail], socket=daemon.socket):
        assert await anyio.to_thread.run_sync(call) == ("nothing there", "EMPTY")


async def test_a_call_that_is_no_longer_needed_is_cancelled(daemon: DaemonProcess) -> None:
    """When the time of a call is up, the async function that carries it out is cancelled."""
    cancelled = anyio.Event()

    @tool(effect="read", timeout_seconds=0.1)
    async def idle() -> None:
        """Idles."""
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    def call() -> str:
        with Client(daemon.socket) as client:
            return client.call_tool("idle").reason

    async with AsyncServedTools([idle], socket=daemon.socket):
        assert await anyio.to_thread.run_sync(call) == "TOOL_TIMEOUT"
        with anyio.fail_after(SECONDS):
            await cancelled.wait()


def test_an_action_on_a_cancellation_that_raises_or_waits_leaves_the_stream_alone(
    daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one action of a cancelled call has failed and another has not returned, the next call gets its result."""
    failed, released = threading.Event(), threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _of_thread: failed.set())

    @tool(effect="read", timeout_seconds=0.1)
    def linger(name: str, context: CallContext) -> None:
        """Lingers."""
        context.on_cancel(released.wait if name == "waits" else lambda: int(name))
        released.wait(SECONDS)

    with Client(daemon.socket) as client, ServedTools([linger, greet], socket=daemon.socket):
        reasons = [client.call_tool("linger", {"name": name}).reason for name in ("waits", "raises")]
        assert reasons == ["TOOL_TIMEOUT", "TOOL_TIMEOUT"]
        assert client.call_tool("greet", {"name": "Ann"}).data == "Hello, Ann!"
        assert failed.wait(SECONDS)
        released.set()


def test_a_program_that_leaves_lets_the_actions_on_cancellations_finish(
    daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An action that runs already when the program leaves is finished before the program goes on."""
    begun, awaited, finished = threading.Event(), threading.Event(), threading.Event()
    join = threading.Thread.join

    def act() -> None:
        begun.set()
        if awaited.wait(SECONDS):
            finished.set()

    def join_and_tell(thread: threading.Thread, timeout: float | None = None) -> None:
        if thread.name == "aeond-cancel":
            awaited.set()
        join(thread, timeout)

    @tool(effect="read", timeout_seconds=1.0)
    def linger(context: CallContext) -> None:
        """Lingers."""
        context.on_cancel(act)
        finished.wait(SECONDS)

    with Client(daemon.socket) as client:
        with ServedTools([linger], socket=daemon.socket):
            assert client.call_tool("linger").reason == "TOOL_TIMEOUT"
            assert begun.wait(SECONDS)
            monkeypatch.setattr(threading.Thread, "join", join_and_tell)
        assert finished.is_set()


def test_a_program_that_can_start_no_thread_cancels_its_calls(
    daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leaving cancels every call in progress also where no thread can be started, and raises the error of an action."""
    gate = Gate()
    cancelled: list[bool] = []
    start = threading.Thread.start

    def act() -> None:
        cancelled.append(all(context.cancelled.is_set() for context in gate.contexts))
        raise OSError("no permission")

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "aeond-cancel":
            raise RuntimeError("can't start new thread")
        start(thread)

    with (
        Client(daemon.socket) as client,
        pytest.raises(OSError, match="no permission"),
        ServedTools([gate.tool], socket=daemon.socket),
    ):
        for _ in range(2):
            client.create_run("hold", calling("hold"))
            gate.wait()
            gate.contexts[-1].on_cancel(act)
        monkeypatch.setattr(threading.Thread, "start", refuse)
    gate.open.set()
    assert cancelled == [True, True]


def test_a_result_is_delivered_over_a_new_connection(daemon: DaemonProcess, tmp_path: Path) -> None:
    """A connection that is cut during a call costs nothing: the call is carried out once, its result arrives."""
    gate = Gate("write_outside")
    with (
        CuttingProxy(tmp_path / "cut.sock", daemon.socket) as proxy,
        ServedTools([gate.tool], socket=proxy.path),
        Client(daemon.socket) as client,
    ):
        run = client.create_run("hold", calling("hold"))
        gate.wait()
        proxy.cut()
        gate.open.set()
        run = ended(client, run)
        assert (run.state, run.steps[0].output, len(gate.contexts)) == (RunState.SUCCEEDED, 1, 1)


def test_a_program_that_leaves_during_a_call_leaves_it_unknown(daemon: DaemonProcess) -> None:
    """A call with effects whose program is gone waits for a person's decision."""
    gate = Gate("write_outside")
    with Client(daemon.socket) as client:
        with ServedTools([gate.tool], socket=daemon.socket):
            run = client.create_run("hold", calling("hold"))
            gate.wait()
        gate.open.set()
        with client.watch(run.run_id) as events:
            for event in events:
                if isinstance(event.kind, RunSuspended):
                    break
        assert client.get_run(run.run_id).steps[0].state is StepState.UNKNOWN
        client.decide_run(run.run_id, Resolution.DONE, "s1")
        assert ended(client, run).state is RunState.SUCCEEDED


def test_two_programs_serve_at_once(daemon: DaemonProcess) -> None:
    """Calls go to the program that serves the tool; a slow one delays neither the other nor the daemon."""
    gate = Gate()
    with (
        ServedTools([gate.tool], socket=daemon.socket),
        ServedTools([greet], socket=daemon.socket),
        Client(daemon.socket) as client,
    ):
        run = client.create_run("hold", calling("hold"))
        gate.wait()
        assert client.call_tool("greet", {"name": "Bo"}).data == "Hello, Bo!"
        gate.open.set()
        assert ended(client, run).state is RunState.SUCCEEDED


def test_aeonctl_serves_a_command(daemon: DaemonProcess) -> None:
    """`aeonctl serve-tool` answers calls with the output of a command until Ctrl-C."""
    words = command(
        "serve-tool", "reverse", "--effect", "read", "--", "sh", "-c", 'printf %s "$1" | rev', "-", "{text}"
    )
    settings = environment(AEOND_SOCKET=str(daemon.socket))
    with subprocess.Popen(words, env=settings, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        assert program.stderr.readline() == "serving reverse\n"
        with Client(daemon.socket) as client:
            assert client.call_tool("reverse", {"text": "desserts"}).data == "stressed"
        program.send_signal(2)
        assert program.wait(SECONDS) == 0


def test_tools_are_offered_again_after_a_restart(daemon: DaemonProcess) -> None:
    """A program that serves tools outlives a restart of the daemon."""
    with ServedTools([greet], socket=daemon.socket):
        daemon.restart()
        with Client(daemon.socket) as client:
            while "greet" not in {found.name for found in client.list_tools()}:
                pass
            assert client.call_tool("greet", {"name": "Cy"}).data == "Hello, Cy!"
