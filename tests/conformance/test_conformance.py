"""Every client against the same daemon: the same cases, the same transcripts."""

import socket as net
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest

from aeond.api.v1 import events_pb2
from aeond_client import Client, RunOptions
from tests.support import wire_events
from tests.support.conformance import (
    ANSWER,
    CASES,
    REASON,
    Case,
    Conversation,
    call,
    converse,
    received,
)
from tests.support.cutting_proxy import CuttingProxy
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.stubs import STUBS, Stub, environment

# A field of Event with the number 999, which no contract has: a kind of a later version.
LATER_KIND = b"\xba\x3e\x02\x08\x01"


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A real daemon with a scripted model."""
    with daemon_folder() as folder, DaemonProcess(folder) as daemon:
        yield daemon


@asynccontextmanager
async def server_of(case: Case, daemon: DaemonProcess, folder: Path) -> AsyncIterator[tuple[Path, str]]:
    """The socket of the case's server, and the id of the run that it has."""
    if case.server == "newer":
        async with ScriptedDaemon(folder / "newer.sock") as newer:
            newer.runs.script = lambda _: [wire_events.created(case.text), events_pb2.RunStarted()]
            run_id = await anyio.to_thread.run_sync(created, case, newer.path)
            run = newer.runs.runs[run_id]
            later = events_pb2.Event(run_id=run_id, seq=3)
            later.MergeFromString(LATER_KIND)
            run.items.append(later)
            run.append(wire_events.composed("391"))
            run.append(wire_events.ended())
            yield newer.path, run_id
    elif case.server == "complete":
        async with ScriptedDaemon(folder / "complete.sock") as complete:
            complete.runs.script = lambda _: wire_events.one_of_each_kind()
            yield complete.path, await anyio.to_thread.run_sync(created, case, complete.path)
    else:
        started = case.command in {"watch", "close"} and not case.run_id
        run_id = await anyio.to_thread.run_sync(created, case, daemon.socket) if started else case.run_id
        yield daemon.socket, run_id


def created(case: Case, socket: Path) -> str:
    with Client(socket) as client:
        run_id = client.create_run(case.text, RunOptions(plan=case.plan)).run_id
        if case.ended:
            received(client, run_id)
    return run_id


def settings_of(case: Case, socket: Path, folder: Path) -> dict[str, str]:
    if case.socket == "user":
        (folder / "aeond").mkdir()
        (folder / "aeond" / "aeond.sock").symlink_to(socket)
        return environment(XDG_RUNTIME_DIR=str(folder))
    if case.socket in {"none", "dead"}:
        socket = folder / case.socket
    if case.socket == "dead":
        with closing(net.socket(net.AF_UNIX)) as left:
            left.bind(str(socket))
    return environment(AEOND_SOCKET=str(socket))


def held(stub: Stub, case: Case, daemon: DaemonProcess, socket: Path, run_id: str) -> Conversation:
    """The conversation of a client, with everything that happens to it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(daemon_folder()))
        reply = stack.enter_context(Client(socket))
        if case.cuts or any("cut" in actions for actions in case.at.values()):
            proxy = CuttingProxy(folder / "cut.sock", socket, case.cuts)
            socket = stack.enter_context(proxy).path
        settings = settings_of(case, socket, folder)
        actions: dict[str, Callable[[str], object]] = {
            "answer": lambda run: call(stub, settings, "answer", run, f'"{ANSWER}"'),
            "cancel": lambda run: call(stub, settings, "cancel", run, REASON),
            "reply": lambda run: reply.answer_run(run, ANSWER),
            "cut": lambda _: proxy.cut(),
            "restart": lambda _: daemon.restart(),
            "end": partial(received, reply),
        }
        found = converse(stub, case, settings, run_id, actions)
        assert not case.cuts or not proxy.cuts, "the connections were not cut"
        if not case.error:
            assert (found.error, found.exit_status) == (None, 0 if stub.has_reasons else case.exit), (
                found.stderr
            )
            wanted = received(reply, run_id or found.run_id, case.after)
            assert found.events == wanted
    return found


@pytest.mark.parametrize(
    ("stub", "case"),
    [
        pytest.param(stub, case, id=f"{stub}-{case}")
        for stub in STUBS
        for case in CASES
        if stub.closes or not case.closes
    ],
)
async def test_a_client_conforms(stub: Stub, case: Case, daemon: DaemonProcess) -> None:
    """A client receives exactly the events of the case, each with its whole content, or its error."""
    with daemon_folder() as folder:
        async with server_of(case, daemon, folder) as (socket, run_id):
            found = await anyio.to_thread.run_sync(held, stub, case, daemon, socket, run_id)
    if case.transcript is not None:
        assert found.transcript == case.transcript.splitlines()
    if case.error and stub.has_reasons:
        assert found.error == case.error, found.stderr
        assert found.exit_status != 0
    elif case.error:
        assert found.exit_status == case.exit, found.stderr
