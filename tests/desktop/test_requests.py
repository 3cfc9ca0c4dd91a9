"""Requests from the hotkey to the answer, with the real daemon and a scripted model."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)
pytest.importorskip("xcffib", reason="xcffib is not installed here", exc_type=ImportError)

from aeond_client import Client, RunOptions
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.daemon_process import DaemonProcess
from tests.support.desktop_session import HOTKEY, Popup, Session, XSession, armed_popup
from tests.support.ledgers import Gate, deed
from tests.support.popup_screens import Screen, check_screens, x11_screen
from tests.support.popup_script import FOLLOW_UP, GATE, NOTE, QUESTION, asking
from tests.support.stages import Stage


@pytest.fixture(scope="module")
def one_popup(session: XSession, stage: Stage) -> Iterator[Popup]:
    with armed_popup(session, stage.daemon.socket) as made:
        yield made


@pytest.fixture
def popup(one_popup: Popup) -> Iterator[Popup]:
    """A popup that waits for its hotkey: one for all tests here, with an empty prompt for each."""
    yield one_popup
    one_popup.renew()


@contextmanager
def keyboard(session: Session, layout: str, variant: str) -> Iterator[None]:
    """A layout that has all keys of a test. Others are pressed by a layout of their own that is gone before a busy window asks for it."""
    session.run("setxkbmap", layout, variant)
    try:
        yield
    finally:
        session.run("setxkbmap", "us")


def ask(popup: Popup, text: str) -> str:
    """Types a request into the open window; the id of its run."""
    since = popup.seen()
    popup.type(text)
    popup.press("Return")
    return str(popup.wait_until(lambda entry: bool(entry.get("run")), since)["run"])


def open_newest(popup: Popup) -> None:
    """Opens the newest run from the history."""
    since = popup.seen()
    popup.press("Up")
    popup.wait_for("history", since)
    popup.press("Return")


def test_steps_tick_off_and_the_answer_appears(popup: Popup, gate: Gate) -> None:
    """A typed request shows its step while it runs, ticks it off when it has ended, and then shows the answer."""
    popup.open()
    since = popup.seen()
    ask(popup, GATE)
    gate.held()
    popup.wait_for("stage", since, stage="running")
    popup.wait_for("rows", since, rows=["spinner"])
    gate.open()
    popup.wait_for("rows", since, rows=["tick"])
    popup.wait_for("stage", since, stage="done")


def test_the_screen_shows_what_the_window_draws(
    popup: Popup, session: XSession, daemon: DaemonProcess
) -> None:
    """On X11 the screen has the prompt, the answer of a run and a question as the window draws them by itself."""
    check_screens(popup, str(daemon.socket), Screen("x11", lambda: x11_screen(session.display)))


def test_escape_hides_and_does_not_cancel(popup: Popup, gate: Gate, daemon: DaemonProcess) -> None:
    """Escape hides the window while the run goes on; the hotkey shows it again with the answer."""
    popup.open()
    run_id = ask(popup, GATE)
    gate.held()
    since = popup.seen()
    popup.press("Escape")
    popup.wait_for("hidden", since)
    gate.open()
    popup.wait_for("event", since, kind="RunEnded")
    popup.open()
    popup.wait_for("stage", since, stage="done", run=run_id)
    with Client(str(daemon.socket)) as client:
        assert client.get_run(run_id).state is RunState.SUCCEEDED


def test_stop_cancels_the_run(popup: Popup, gate: Gate, daemon: DaemonProcess) -> None:
    """The key for stopping cancels the shown run, and the window says so."""
    popup.open()
    since = popup.seen()
    run_id = ask(popup, GATE)
    popup.wait_for("stage", since, stage="running")
    gate.held()
    popup.press("ctrl+period")
    popup.wait_for("event", since, kind="CancelRequested", run=run_id)
    gate.open()
    popup.wait_for("stage", since, stage="cancelled")
    with Client(str(daemon.socket)) as client:
        assert client.get_run(run_id).state is RunState.CANCELLED


def test_a_question_is_answered_by_a_key(popup: Popup, gate: Gate, daemon: DaemonProcess) -> None:
    """A question shows its options; Alt+2 answers with the second one and the run continues to its end."""
    with Client(str(daemon.socket)) as client:
        run_id = client.create_run(QUESTION, RunOptions(plan=asking(gate))).run_id
        gate.open()
        popup.open()
        since = popup.seen()
        open_newest(popup)
        popup.wait_for("stage", since, stage="question")
        popup.choose("alt+2")
        popup.wait_for("stage", since, stage="done")
        assert client.get_run(run_id).steps[1].output == "blue"


def test_a_follow_up_belongs_to_the_session_and_changes_are_undone(
    popup: Popup, daemon: DaemonProcess
) -> None:
    """Typing below an answer sends the next request of the same session; Ctrl+Z undoes what the first one changed."""
    with Client(str(daemon.socket)) as client:
        popup.open()
        since = popup.seen()
        first = ask(popup, NOTE)
        popup.wait_for("stage", since, stage="done")
        assert client.read_memory("colour") == "blue"
        popup.press("ctrl+z")
        popup.wait_for("undone", since)
        assert client.search_memory("colour") == ()
        since = popup.seen()
        second = ask(popup, FOLLOW_UP)
        assert second != first
        popup.wait_for("stage", since, stage="done", run=second)
        assert client.get_run(second).session_id == client.get_run(first).session_id != ""


def test_retry_continues_from_the_step_that_failed(popup: Popup, stage: Stage) -> None:
    """Ctrl+R below a run that failed at its second step carries out that step and the rest, and the finished step not again."""
    steps = (
        deed("s1", "send"),
        PlanStep("s2", "read the list", "read_file", {"path": "list.txt"}, depends_on=("s1",)),
        deed("s3", "look", "s2"),
    )
    with Client(stage.socket) as client:
        options = RunOptions(plan=Plan("the list", steps), workspace=str(stage.workspace))
        failed = client.create_run("the list", options).run_id
        with client.watch(failed) as events:
            assert list(events)
        popup.open()
        since = popup.seen()
        open_newest(popup)
        popup.wait_for("stage", since, stage="failed", run=failed)
        (stage.workspace / "list.txt").write_text("milk", encoding="utf-8")
        popup.press("ctrl+r", "ctrl+r")
        continued = popup.wait_for("stage", since, stage="done")["run"]
        assert client.get_run(continued).state is RunState.SUCCEEDED
        assert [run.text for run in client.list_runs()].count("the list") == 2
    assert (stage.ledger.begun(failed), stage.ledger.begun(continued)) == ({"s1": 1}, {"s3": 1})


def test_a_dead_key_begins_a_follow_up(popup: Popup, daemon: DaemonProcess) -> None:
    """An accent that is composed by a dead key below an answer is the first character of the next request."""
    popup.open()
    since = popup.seen()
    first = ask(popup, "one more")
    popup.wait_for("stage", since, stage="done", run=first)
    with keyboard(popup.session, "us", "intl"):
        popup.press("dead_acute", "e")
        second = ask(popup, "tude")
    with Client(str(daemon.socket)) as client:
        assert client.get_run(second).text == "étude"


def test_the_history_opens_an_earlier_run(popup: Popup, daemon: DaemonProcess) -> None:
    """Up in the empty prompt lists the runs of the daemon; Enter opens the one that the typed text finds."""
    with Client(str(daemon.socket)) as client:
        run = client.create_run("a run of another program")
        with client.watch(run.run_id) as events:
            assert list(events)
    popup.open()
    since = popup.seen()
    popup.press("Up")
    popup.wait_for("history", since)
    popup.type("another program")
    popup.press("Return")
    popup.wait_for("stage", since, stage="done", run=run.run_id)


def test_no_event_is_lost_or_doubled_when_the_daemon_is_killed(
    popup: Popup, gate: Gate, daemon: DaemonProcess
) -> None:
    """After SIGKILL in the middle of a run the window says so, and then receives each remaining event exactly once."""
    popup.open()
    since = popup.seen()
    run_id = ask(popup, GATE)
    gate.held()
    daemon.kill()
    popup.wait_for("stage", since, stage="unavailable")
    daemon.start()
    gate.open()
    popup.wait_for("stage", since, stage="done", run=run_id)
    seqs = [entry["seq"] for entry in popup.all("event", since) if entry["seq"] and entry["run"] == run_id]
    with Client(str(daemon.socket)) as client:
        assert seqs == list(range(1, client.get_run(run_id).last_seq + 1))


def test_a_draft_is_kept_without_a_daemon_and_sent_when_there_is_one(
    popup: Popup, daemon: DaemonProcess
) -> None:
    """A request that is sent without a daemon stays in the prompt; after a start Enter sends it, and one run exists."""
    daemon.stop()
    popup.open()
    since = popup.seen()
    popup.wait_for("stage", 0, stage="unavailable")
    popup.type("one and only")
    popup.press("Return")
    popup.wait_for("refused", since)
    daemon.start()
    popup.wait_for("stage", since, stage="prompt")
    popup.press("Return")
    popup.wait_for("stage", since, stage="done")
    with Client(str(daemon.socket)) as client:
        assert [run.text for run in client.list_runs()].count("one and only") == 1


def test_the_hotkey_hides_a_visible_window(popup: Popup) -> None:
    """The hotkey acts on what is seen: it shows a hidden window and hides a visible one."""
    popup.open()
    since = popup.seen()
    popup.press(HOTKEY)
    popup.wait_for("hidden", since)
