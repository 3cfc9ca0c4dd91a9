"""The cases of the conformance suite for clients that serve tools: what happens, and what must be seen."""

import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from time import monotonic
from typing import Any

from aeond_client import Client, Resolution, Run, RunOptions, RunState, ServedTools, tool
from aeond_client.errors import NotFoundError
from aeond_client.events import RunSuspended
from tests.support.conformance import DEADLINE_SECONDS, Case, cases_of
from tests.support.cutting_proxy import CuttingProxy
from tests.support.daemon_process import DaemonProcess
from tests.support.stubs import Stub, environment

TEXT = 'Grüße, 世界 "\\\n\U0001f30d'
TOOLS = ("suite_break", "suite_echo", "suite_flood", "suite_hold", "suite_refuse")
# Between two looks at the tools of a daemon, which else would need more of the processor than what is waited for.
LOOK_SECONDS = 0.02


@dataclass(frozen=True)
class ServingCase(Case):
    """A case of a client that serves tools."""

    happens: str = ""
    limit: float = 0.0


SERVING = tuple(ServingCase(command="serve", **case) for case in cases_of("serving"))


class Serving:
    """A driver that serves the tools of the suite."""

    def __init__(self, program: "subprocess.Popen[str]", stub: Stub) -> None:
        self._program = program
        self._stub = stub

    def line(self, kind: str) -> Any:
        """The content of the next line, which must be of this kind."""
        assert self._program.stdout is not None
        printed = json.loads(self._program.stdout.readline() or "{}")
        assert kind in printed, f"{printed} instead of {kind}"
        return printed

    def release(self) -> None:
        """Ends the calls of suite_hold that are in progress."""
        assert self._program.stdin is not None
        self._program.stdin.write("release\n")
        self._program.stdin.flush()

    def must_have_cancelled(self, began: Mapping[str, Any]) -> None:
        """Returns once the tool has learned that this call was cancelled: where it is a program, once that was killed."""
        if not self._stub.kills:
            assert self.line("cancelled")["cancelled"] == began["began"]
            return
        try:
            process = os.pidfd_open(began["pid"])
        except ProcessLookupError:
            return
        try:
            assert select.select([process], [], [], DEADLINE_SECONDS)[0], "the program was not killed"
        finally:
            os.close(process)

    def leave(self) -> int:
        """The exit status after Ctrl-C."""
        self._program.send_signal(signal.SIGINT)
        return self._program.wait(DEADLINE_SECONDS)


@contextmanager
def serving(stub: Stub, socket: Path, limit: float = 0.0, verb: str = "serve") -> Iterator[Serving]:
    """A driver that has been started, and that must end in good order: silent, with 0, and its tools gone with it.

    `limit` is the time limit of its suite_hold. Another `verb` serves other tools.
    """
    with tempfile.TemporaryFile() as stderr:
        program = subprocess.Popen(
            stub.command(verb, *([str(limit)] if limit else [])),
            env=environment(AEOND_SOCKET=str(socket)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )
        watchdog = Timer(DEADLINE_SECONDS, _end, (program,))
        watchdog.start()
        try:
            yield Serving(program, stub)
        except BaseException as error:
            stderr.seek(0)
            error.add_note(stderr.read().decode())
            raise
        finally:
            watchdog.cancel()
            _end(program)
            program.communicate()
        stderr.seek(0)
        said = stderr.read().decode()
        assert "Traceback" not in said, said


def _end(program: "subprocess.Popen[str]") -> None:
    """Kills the program and those that it started."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)


def happen(case: ServingCase, stub: Stub, daemon: DaemonProcess, folder: Path) -> None:
    """Everything of a case, from the start of the client to its end."""
    with Client(daemon.socket) as client:
        match case.happens:
            case "taken":
                _taken(stub, daemon)
            case "cut":
                with CuttingProxy(folder / "cut.sock", daemon.socket) as proxy:
                    _orderly(case, stub, daemon, client, proxy)
            case _:
                _orderly(case, stub, daemon, client)


def _orderly(
    case: ServingCase, stub: Stub, daemon: DaemonProcess, client: Client, proxy: CuttingProxy | None = None
) -> None:
    with serving(stub, proxy.path if proxy else daemon.socket, case.limit) as served:
        assert sorted(served.line("serving")["serving"]) == list(TOOLS)
        match case.happens:
            case "calls":
                _calls(stub, client)
            case "flood":
                _flood(client)
            case "turns":
                _turns(case, served, client)
            case "cancel":
                _cancel(case, served, client)
            case "cut" if proxy is not None:
                run, began = _begun(case, served, client)
                proxy.cut()
                _released(served, client, run, began)
            case "restart":
                _restart(case, served, client, daemon)
            case other:
                raise AssertionError(f"nothing happens: {other!r}")
        assert served.leave() == 0
        # Where each tool has a program of its own, some may still be without a connection after a cut, and then cannot say
        # goodbye: the daemon forgets their tools in time.
        deadline = monotonic() + (
            DEADLINE_SECONDS if stub.kills and case.happens in ("cut", "restart") else 0
        )
        while left := {*TOOLS} & {found.name for found in client.list_tools()}:
            assert monotonic() < deadline, f"no orderly goodbye of {left}"
            Event().wait(LOOK_SECONDS)


def _calls(stub: Stub, client: Client) -> None:
    spec = client.get_tool("suite_echo")
    assert (spec.effect, spec.input_schema["required"], bool(spec.description)) == ("read", ["text"], True)
    assert client.call_tool("suite_echo", {"text": TEXT}).data == {"text": TEXT}
    assert client.call_tool("suite_echo", {"txt": TEXT}).reason == "ARGUMENTS_INVALID"
    refused, broken = client.call_tool("suite_refuse"), client.call_tool("suite_break")
    assert "no such page" in refused.error
    assert "broken" in broken.error
    assert (refused.reason, broken.reason) == (stub.failures or ("PAGE_UNKNOWN", "TOOL_RAISED"))


def _flood(client: Client) -> None:
    assert client.call_tool("suite_flood").reason == "OUTPUT_TOO_LARGE"
    assert client.call_tool("suite_echo", {"text": TEXT}).data == {"text": TEXT}


def _turns(case: ServingCase, served: Serving, client: Client) -> None:
    # A run makes its calls with effects one after the other; runs do not wait for each other.
    runs = [_started(case, client) for _ in range(4)]
    begun = [served.line("began"), served.line("began")]
    served.release()
    begun += [served.line("began"), served.line("began")]
    served.release()
    assert {found["began"] for found in begun} == {f"{run.run_id}/s1" for run in runs}
    assert max(found["running"] for found in begun) == 2
    assert {_ended(client, run).state for run in runs} == {RunState.SUCCEEDED}


def _cancel(case: ServingCase, served: Serving, client: Client) -> None:
    assert client.get_tool("suite_hold").timeout_seconds == case.limit
    run, began = _begun(case, served, client)
    client.cancel_run(run.run_id)
    served.must_have_cancelled(began)
    assert _ended(client, run).state is RunState.CANCELLED


def _restart(case: ServingCase, served: Serving, client: Client, daemon: DaemonProcess) -> None:
    run, began = _begun(case, served, client)
    daemon.restart()
    with client.watch(run.run_id) as events:
        assert any(isinstance(event.kind, RunSuspended) for event in events)
    _offered(client, TOOLS)
    client.decide_run(run.run_id, Resolution.RETRY, "s1")
    _released(served, client, run, began)


def _taken(stub: Stub, daemon: DaemonProcess) -> None:
    """Each of the names is taken: the client must not serve the others either."""

    def suite_echo(text: str) -> str:
        """Another program's tool."""
        return text

    def suite_break() -> None:
        """Another program's tool."""

    others = [tool(effect="read")(suite_echo), tool(effect="read")(suite_break)]
    with ServedTools(others, socket=daemon.socket), serving(stub, daemon.socket) as served:
        error = served.line("error")["error"]
        assert (error["reason"], error["field"][:12], error["field"][-6:]) == (
            "TOOL_EXISTS",
            "offer.tools[",
            "].name",
        )


def _started(case: ServingCase, client: Client) -> Run:
    return client.create_run(case.text, RunOptions(plan=case.plan))


def _begun(case: ServingCase, served: Serving, client: Client) -> tuple[Run, Any]:
    """A run of one call, which the tool has begun."""
    run = _started(case, client)
    began = served.line("began")
    assert (began["began"], began["running"]) == (f"{run.run_id}/s1", 1)
    return run, began


def _released(served: Serving, client: Client, run: Run, began: Mapping[str, Any]) -> None:
    """The result of the one execution arrives: it names its own call."""
    served.release()
    ended = _ended(client, run)
    assert (ended.state, ended.steps[0].output) == (RunState.SUCCEEDED, {"held": began["began"]})


def _ended(client: Client, run: Run) -> Run:
    with client.watch(run.run_id) as events:
        for _ in events:
            pass
    return client.get_run(run.run_id)


def _offered(client: Client, names: tuple[str, ...]) -> None:
    """Returns once the daemon has all of these tools."""
    deadline = monotonic() + DEADLINE_SECONDS
    for name in names:
        while True:
            try:
                client.get_tool(name)
                break
            except NotFoundError:
                assert monotonic() < deadline, f"{name} was not offered again"
                Event().wait(LOOK_SECONDS)
