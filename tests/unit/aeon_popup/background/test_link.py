"""The popup's connection to the daemon, against a scripted daemon on a real socket."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from aeon_popup.background.link import Link
from aeon_popup.background.worker import Work
from aeon_popup.state import happenings, wording
from aeon_popup.state.happenings import Happening
from aeon_popup.state.run_view import Stage
from aeon_popup.state.session import SessionView, after
from aeond.api.v1 import daemon_pb2, runs_pb2
from aeond_client.events import RunEnded
from aeond_client.records.runs import RunState
from aeond_client.records.tools import ToolCall
from tests.support import wire_events
from tests.support.popup_daemon import APPROVAL, ApprovingRuns, approving_daemon
from tests.support.popup_states import RUN, folded, planned, received
from tests.support.scripted_daemon import ScriptedDaemon

KEY = "request-1"


class LoopWorker:
    """Runs the work in the event loop of the test."""

    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self._group = group

    def start_soon(self, work: Work) -> None:
        self._group.start_soon(work)

    def call_soon(self, do: Callable[[], None]) -> None:
        do()


class Window:
    """Applies each batch to the state, as the controller does, and lets a test wait for a state."""

    def __init__(self, group: anyio.abc.TaskGroup, socket: Path) -> None:
        self.view = SessionView()
        self.applied: list[Happening] = []
        self._changed = anyio.Event()
        self.link = Link(LoopWorker(group), self._apply, str(socket))
        self.link.start()

    def _apply(self, batch: list[Happening]) -> None:
        for happening in batch:
            self.applied.append(happening)
            self.view = after(self.view, happening)
        self._changed.set()
        self._changed = anyio.Event()
        self.link.taken()

    def submit(self) -> None:
        self.view = self.view.submitted(KEY, "a request")
        self.link.submit(KEY, "a request", "")

    async def until(self, reached: Callable[[SessionView], bool]) -> None:
        with anyio.fail_after(60):
            while not reached(self.view):
                await self._changed.wait()

    @property
    def seqs(self) -> list[int]:
        return [
            one.event.seq for one in self.applied if isinstance(one, happenings.Received) and one.event.seq
        ]


@asynccontextmanager
async def opened(socket: Path) -> AsyncIterator[Window]:
    async with anyio.create_task_group() as group:
        yield Window(group, socket)
        group.cancel_scope.cancel()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[ScriptedDaemon, ApprovingRuns]]:
    daemon, runs = approving_daemon(tmp_path / "d.sock")
    async with daemon:
        yield daemon, runs


async def test_an_approval_reaches_the_card_and_its_decision_the_daemon(
    served: tuple[ScriptedDaemon, ApprovingRuns],
) -> None:
    """A waiting approval is shown with its exact calls; the decision carries the digest that was shown."""
    daemon, runs = served
    async with opened(daemon.path) as window:
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        assert window.view.shown is not None
        (approval,) = window.view.shown.approvals
        assert (approval.request.calls, approval.request.digest) == (
            (ToolCall("send", {"to": "marta"}),),
            APPROVAL.digest,
        )
        window.link.decide(KEY, approval, approved=False, scope="once")
        await window.until(lambda view: view.stage is Stage.DONE)
        assert runs.decided == [("a1", False)]


async def test_no_event_is_lost_or_doubled_over_a_restart(
    served: tuple[ScriptedDaemon, ApprovingRuns],
) -> None:
    """A daemon that goes away and comes back is reported, and the events continue with the next number."""
    daemon, runs = served
    async with opened(daemon.path) as window:
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        approval = window.view.runs[0].approvals[0]
        await daemon.stop()
        await window.until(lambda view: view.stage is Stage.UNAVAILABLE)
        await daemon.start()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        window.link.decide(KEY, approval, approved=True, scope="run")
        await window.until(lambda view: view.stage is Stage.DONE)
        assert runs.decided == [("a1", True)]
        assert window.seqs == list(range(1, len(window.seqs) + 1))


async def test_an_approval_is_kept_when_the_daemon_ends_as_it_asks(
    served: tuple[ScriptedDaemon, ApprovingRuns],
) -> None:
    """An approval is shown by its event alone, so it survives a daemon that ends right after the event; the watch that goes on
    behind the event asks nothing a second time.
    """
    daemon, runs = served
    runs.refused.add("GetRun")
    async with opened(daemon.path) as window:
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        asked = window.seqs[-1]
        await daemon.stop()
        await window.until(lambda view: view.stage is Stage.UNAVAILABLE)
        await daemon.start()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        (approval,) = window.view.runs[0].approvals
        assert approval.request.digest == APPROVAL.digest
        window.link.decide(KEY, approval, approved=True, scope="once")
        await window.until(lambda view: view.stage is Stage.DONE)
        assert runs.watches == [0, asked]
        assert runs.decided == [("a1", True)]


async def test_a_decided_approval_is_not_asked_about_when_the_run_is_opened(
    served: tuple[ScriptedDaemon, ApprovingRuns],
) -> None:
    """The replay of a run whose approval was decided ends without an open approval."""
    daemon, _ = served
    async with opened(daemon.path) as window:
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        window.link.decide(KEY, window.view.runs[0].approvals[0], approved=True, scope="once")
        await window.until(lambda view: view.stage is Stage.DONE)
        run_id = window.view.runs[0].run_id
    async with opened(daemon.path) as window:
        window.view = window.view.opened("opened", run_id, "")
        window.link.follow("opened", run_id)
        await window.until(lambda view: view.stage is Stage.DONE)
        assert window.view.runs[0].approvals == ()


async def test_a_request_without_a_daemon_is_refused_and_found_again(tmp_path: Path) -> None:
    """Without a daemon the request comes back as the draft; while the window is visible, a start is noticed."""
    daemon, _ = approving_daemon(tmp_path / "d.sock")
    async with opened(daemon.path) as window:
        window.link.look(visible=True)
        window.submit()
        await window.until(lambda view: view.stage is Stage.UNAVAILABLE and view.draft == "a request")
        async with daemon:
            await window.until(lambda view: view.stage is Stage.PROMPT)
            window.link.look(visible=False)
            window.submit()
            await window.until(lambda view: view.stage is Stage.APPROVAL)


async def test_a_starting_daemon_is_looked_at_until_it_is_ready(tmp_path: Path) -> None:
    """While the window is visible, the state of a daemon that is starting is read again until it is ready."""
    daemon, _ = approving_daemon(tmp_path / "d.sock")
    daemon.status.states = [daemon_pb2.DAEMON_STATE_STARTING, daemon_pb2.DAEMON_STATE_STARTING]
    async with daemon, opened(tmp_path / "d.sock") as window:
        window.link.look(visible=True)
        await window.until(lambda view: view.daemon_state == "starting")
        await window.until(lambda view: view.daemon_state == "ready")
    seen = [one.state for one in window.applied if isinstance(one, happenings.DaemonSeen)]
    assert seen == ["starting", "starting", "ready"]


async def test_a_failed_call_says_why(served: tuple[ScriptedDaemon, ApprovingRuns]) -> None:
    """A decision that the daemon rejects leaves the approval open with the reason, and it can be decided again."""
    daemon, runs = served
    async with opened(daemon.path) as window:
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        approval = window.view.runs[0].approvals[0]
        runs.refused.add("DecideRun")
        window.view = window.view.reply_sent(KEY, approval.subject)
        window.link.decide(KEY, approval, approved=True, scope="once")
        await window.until(lambda view: bool(view.runs[0].note))
        assert (window.view.stage, runs.decided) == (Stage.APPROVAL, [])
        assert window.view.runs[0].sent == frozenset()


async def test_a_run_is_continued_once(served: tuple[ScriptedDaemon, ApprovingRuns]) -> None:
    """A fork whose reply was lost is asked for again under its request id, and followed once it is there; a fork that does not fit
    is refused for good.
    """
    daemon, runs = served
    async with opened(daemon.path) as window:
        window.view = folded(
            received(*planned(1), RunEnded(RunState.FAILED), key=KEY),
            window.view.opened(KEY, RUN, ""),
        )
        for after_seq, refused in ((0, set[str]()), (7, {"ForkRun"}), (7, set[str]())):
            runs.refused = refused
            window.view = window.view.continued("again", KEY, after_seq)
            window.link.fork("again", RUN, after_seq, "session-1")
            await window.until(lambda view: view.stage in {Stage.FAILED, Stage.DONE})
        refusals = [one.lasting for one in window.applied if isinstance(one, happenings.Refused)]
        assert (refusals, window.view.stage) == ([True, False], Stage.DONE)
        assert set(runs.forks) == {"again"}
        assert [run for run in runs.runs if run.startswith("fork")] == ["fork-again"]


async def test_the_history_has_the_runs_of_the_daemon(served: tuple[ScriptedDaemon, ApprovingRuns]) -> None:
    """The history lists the runs that people requested, and opening one replays its events."""
    daemon, _ = served
    async with opened(daemon.path) as window:
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        window.link.list_history()
        await window.until(lambda view: bool(view.history))
        assert [run.run_id for run in window.view.history or ()] == [window.view.runs[0].run_id]


async def test_children_do_not_push_runs_out_of_the_history(
    served: tuple[ScriptedDaemon, ApprovingRuns],
) -> None:
    """A run that has started many others is in the history, also if these alone would fill it."""
    daemon, runs = served
    runs.has_run("root", "", wire_events.ended())
    for number in range(120):
        runs.has_run(f"child-{number}", "root", wire_events.ended())
    async with opened(daemon.path) as window:
        window.link.list_history()
        await window.until(lambda view: view.history is not None)
        assert [run.run_id for run in window.view.history or ()] == ["root"]


@pytest.mark.parametrize("late", [False, True])
async def test_a_popup_finds_the_unfinished_runs_of_an_earlier_one(
    served: tuple[ScriptedDaemon, ApprovingRuns], late: bool
) -> None:
    """A popup that is started again follows the runs that have not ended, also if the daemon starts after it, beside the runs
    that it submits itself.
    """
    daemon, runs = served
    _, *waiting = runs.script(runs_pb2.CreateRunRequest().request)
    runs.has_run("waiting", "", *waiting)
    runs.has_run("child", "waiting", *waiting)
    runs.has_run("ended", "", wire_events.ended())
    runs.has_run("newer", "", *waiting)
    runs.created["newer"] = Timestamp(seconds=int(time.time()) + 3_600)
    if late:
        await daemon.stop()
    async with opened(daemon.path) as window:
        if late:
            window.link.look(visible=True)
            await window.until(lambda view: view.stage is Stage.UNAVAILABLE)
            await daemon.start()
        await window.until(lambda view: view.others_waiting == 1)
        assert [(run.run_id, run.stage) for run in window.view.runs] == [("waiting", Stage.APPROVAL)]
        assert window.view.shown is None
        window.submit()
        await window.until(lambda view: view.stage is Stage.APPROVAL)
        assert [run.run_id == "waiting" for run in window.view.runs] == [False, True]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (0, "aeond.service was started, but no daemon is listening on "),
        (5, "systemctl --user start aeond.service: no such unit"),
    ],
)
async def test_the_daemon_is_started_by_systemd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, problem: str
) -> None:
    """A start of the daemon by the user's systemd is announced, and its failure is shown with the reason, also if the unit
    serves another socket.
    """
    calls = tmp_path / "calls"
    os.mkfifo(calls)
    program = tmp_path / "systemctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {calls}\n[ {code} = 0 ] || echo no such unit >&2\nexit {code}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    async with opened(tmp_path / "none.sock") as window:
        window.link.look(visible=True)
        await window.until(lambda view: view.stage is Stage.UNAVAILABLE)
        window.view = window.view.start_asked()
        assert wording.badge(window.view)[0] == "Starting aeond…"
        window.link.start_daemon()
        with anyio.fail_after(60):
            assert await anyio.to_thread.run_sync(calls.read_text) == "--user start aeond.service\n"
        await window.until(lambda view: not view.starting)
        assert wording.badge(window.view)[0] == "Daemon not running"
        assert problem in wording.explanation(window.view, None)[1]


async def test_a_list_of_runs_that_fails_says_why(tmp_path: Path) -> None:
    """Without a daemon the history says why it has no runs; with one it lists them, and says so where there are none."""
    daemon, _ = approving_daemon(tmp_path / "d.sock")
    async with opened(daemon.path) as window:
        window.link.list_history()
        await window.until(lambda view: bool(view.history_problem))
        assert wording.about_history(window.view, 0) == (
            "The runs cannot be listed.",
            window.view.history_problem,
        )
        async with daemon:
            window.link.list_history()
            await window.until(lambda view: view.history is not None)
            assert wording.about_history(window.view, 0) == ("", "There are no runs yet.")
