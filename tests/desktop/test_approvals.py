"""Approvals from the daemon's question to the effect: by keys, by a program for accessibility, and by a notification."""

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6.QtGui", reason="Qt is not installed here", exc_type=ImportError)
pytest.importorskip("xcffib", reason="xcffib is not installed here", exc_type=ImportError)

from aeond_client import Client, RunOptions
from aeond_client.events import ApprovalRequested, InputRequested, RunEnded
from aeond_client.records.runs import Plan, PlanStep, StepState
from tests.support.at_spi import LAUNCHER, accessibility, found, needs_at_spi, press
from tests.support.daemon_process import DaemonProcess
from tests.support.desktop_bus import Notifications
from tests.support.desktop_session import HOTKEY, PatientPopup, Popup, XSession
from tests.support.dunst import Dunst, needs_dunst
from tests.support.ledgers import Gate, deed
from tests.support.popup_screens import Screen, check_approval, x11_screen
from tests.support.popup_script import COLOURS, QUESTION
from tests.support.stages import Stage, staged

ASKED = "Use the tool send?"


@pytest.fixture(scope="module")
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon with the profile that asks."""
    with staged(folder, {"policy": {"profile": "ask"}}) as made:
        yield made


@pytest.fixture(scope="module")
def readers_bus(session: XSession) -> Iterator[str]:
    """The address of the accessibility bus; "" on a machine without one."""
    with accessibility(session) if LAUNCHER.exists() else nullcontext("") as address:
        yield address


@pytest.fixture(scope="module")
def popup(session: XSession, stage: Stage, readers_bus: str) -> Iterator[Popup]:
    """One window for all tests here, which a screen reader may read."""
    with Popup(session, stage.daemon.socket) as made:
        made.wait_for("armed", shortcut="Ctrl+Alt+Space")
        yield made


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with Client(str(daemon.socket)) as made:
        yield made


def asking(client: Client, gate: str = "") -> str:
    """Creates a run whose step sends something, and waits until it asks about that; the id of the run."""
    step = PlanStep("s1", "send it", "send", {"gate": gate, "seconds": 0.0})
    run_id = client.create_run("send it", RunOptions(plan=Plan("send it", (step,)))).run_id
    with client.watch(run_id) as events:
        next(event for event in events if isinstance(event.kind, ApprovalRequested))
    return run_id


def open_run(popup: Popup, run_id: str, stage: str, hotkey: str = HOTKEY) -> int:
    """Opens the run, which is at this stage, from the history; the number of entries before."""
    since = popup.seen()
    popup.press(hotkey)
    popup.wait_for("focused", since)
    popup.press("ctrl+h")
    popup.wait_for("history", since)
    popup.press("Return")
    popup.wait_for("stage", since, stage=stage, run=run_id)
    return since


def open_approval(popup: Popup, run_id: str, hotkey: str = HOTKEY) -> int:
    return open_run(popup, run_id, "approval", hotkey)


def press_until_it_counts(popup: Popup, key: str, command: str) -> None:
    """Presses a key again and again, because at first the window ignores keys."""
    name = f"Key_{key.rpartition('+')[2].title()}"
    while True:
        since = popup.seen()
        popup.press(key)
        entry = popup.wait_until(lambda one: one["what"] == "command" or one.get("key") == name, since)
        if entry["what"] == "command":
            assert entry["name"] == command
            return


def answer_counts(popup: Popup) -> None:
    """Presses the key of an option that there is not until it is not ignored any more."""
    since = -1
    while since < 0 or popup.all("ignored", since):
        since = popup.seen()
        popup.press("alt+9", "ctrl+d")
        popup.wait_for("command", since, name="DETAILS")


def hide(popup: Popup) -> None:
    since = popup.seen()
    popup.press("Escape")
    popup.wait_for("hidden", since)


def outcome(client: Client, run_id: str) -> StepState:
    """The state of the run's step after the end of the run."""
    with client.watch(run_id) as events:
        assert isinstance(list(events)[-1].kind, RunEnded)
    return client.get_run(run_id).steps[0].state


def test_a_key_allows_once(popup: Popup, stage: Stage, client: Client) -> None:
    """Ctrl+Enter carries out the call that is shown."""
    run_id = asking(client)
    since = open_approval(popup, run_id)
    press_until_it_counts(popup, "ctrl+Return", "ALLOW")
    popup.wait_for("stage", since, stage="done")
    assert outcome(client, run_id) is StepState.SUCCEEDED
    assert stage.ledger.ended(run_id) == {"s1": 1}
    hide(popup)


def test_the_screen_shows_an_approval_as_the_window_draws_it(
    popup: Popup, session: XSession, stage: Stage
) -> None:
    """On X11 the screen has the card of an approval as the window draws it by itself."""
    check_approval(popup, stage.socket, Screen("x11", lambda: x11_screen(session.display)))
    hide(popup)


def test_plain_keys_do_not_allow_and_deny_has_the_focus(popup: Popup, stage: Stage, client: Client) -> None:
    """Plain Enter decides nothing, nor does Space on a button that allows; Space presses Deny, which has the focus at first."""
    run_id = asking(client)
    since = open_approval(popup, run_id)
    press_until_it_counts(popup, "ctrl+d", "DETAILS")
    popup.press("Return", "KP_Enter")
    for _ in ("For this run", "Allow once"):
        popup.press("Tab", "Return", "space")
    before = popup.seen()
    popup.press("shift+Tab", "shift+Tab", "ctrl+d")
    popup.wait_for("command", before, name="DETAILS")
    assert popup.all("decided", since) == []
    popup.press("space")
    popup.wait_for("stage", since, stage="failed")
    assert [entry["approved"] for entry in popup.all("decided", since)] == [False]
    assert outcome(client, run_id) is StepState.FAILED
    assert stage.ledger.begun(run_id) == {}
    hide(popup)


def test_keys_are_ignored_when_an_approval_has_just_appeared(
    session: XSession, stage: Stage, client: Client
) -> None:
    """While an approval is too new for a key to be meant for it, no key decides; this window waits longer than others."""
    run_id = asking(client)
    alone = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}
    with PatientPopup(session, stage.socket, "--hotkey", "Ctrl+Alt+P", **alone) as popup:
        popup.wait_for("armed", shortcut="Ctrl+Alt+P")
        since = open_approval(popup, run_id, "ctrl+alt+p")
        popup.press("ctrl+Return", "ctrl+shift+Return", "space", "ctrl+BackSpace")
        popup.wait_for("ignored", since, key="Key_Backspace")
        assert [entry["name"] for entry in popup.all("command", since)] == ["HISTORY"]
    (approval,) = client.get_run(run_id).approvals
    client.decide_approval(run_id, approval.approval_id, approval.digest, approved=False)


@needs_at_spi
def test_a_program_for_accessibility_presses_deny(
    popup: Popup, stage: Stage, client: Client, readers_bus: str
) -> None:
    """Another program finds the button Deny on the accessibility bus by its name, with the focus, and its action Press denies."""
    run_id = asking(client)
    since = open_approval(popup, run_id)
    press_until_it_counts(popup, "ctrl+d", "DETAILS")
    assert press(readers_bus, "Deny")
    popup.wait_for("stage", since, stage="failed")
    assert outcome(client, run_id) is StepState.FAILED
    assert stage.ledger.begun(run_id) == {}
    hide(popup)


@needs_at_spi
def test_a_program_for_accessibility_reads_the_window(popup: Popup, client: Client, readers_bus: str) -> None:
    """On the accessibility bus the window has the state of the run as its name, the list has the run as a row while it is shown, and
    the action of an option answers the question.
    """
    plan = Plan(QUESTION, (PlanStep("s1", "Ask for the colour", "request_user_input", COLOURS),))
    run_id = client.create_run(QUESTION, RunOptions(plan=plan)).run_id
    with client.watch(run_id) as events:
        next(event for event in events if isinstance(event.kind, InputRequested))
    since = popup.seen()
    popup.press(HOTKEY)
    popup.wait_for("focused", since)
    popup.press("ctrl+h")
    popup.wait_for("history", since)
    found(readers_bus, f"{QUESTION}, awaiting input", "list item")
    popup.press("Return")
    popup.wait_for("stage", since, stage="question", run=run_id)
    found(readers_bus, f"aeon, Needs your answer, {QUESTION}", "filler")  # as Qt calls a plain window
    answer_counts(popup)
    press(readers_bus, "1  red")
    popup.wait_for("stage", since, stage="done", run=run_id)
    assert client.get_run(run_id).steps[0].output == "red"
    hide(popup)


def interrupted(stage: Stage, client: Client, gate: Gate) -> str:
    """A run whose step waits for a decision, because a restart of the daemon cut it at the gate; the id of the run."""
    plan = Plan("cut", (deed("s1", "change", gate=gate),))
    run_id = client.create_run("a step that is cut", RunOptions(plan=plan)).run_id
    with client.watch(run_id) as events:
        asked = next(event.kind for event in events if isinstance(event.kind, ApprovalRequested))
    client.decide_approval(run_id, asked.approval.approval_id, asked.approval.digest, True)
    gate.held()
    stage.daemon.restart()
    return run_id


@pytest.mark.parametrize("key", ["space", "Return"])
@pytest.mark.parametrize(
    ("tabs", "state", "begun"),
    [(1, StepState.FAILED, 1), (2, StepState.SUCCEEDED, 1), (3, StepState.SUCCEEDED, 2)],
)
def test_an_interrupted_step_is_decided_by_keys(
    popup: Popup, stage: Stage, client: Client, key: str, tabs: int, state: StepState, begun: int
) -> None:
    """Of a step that a restart of the daemon interrupted after it may have acted, Tab and a key stop the run, count the step as
    done, or run it a second time.
    """
    gate = stage.gate(f"interrupted-{key}-{tabs}")
    run_id = interrupted(stage, client, gate)
    since = open_run(popup, run_id, "decision")
    press_until_it_counts(popup, "ctrl+d", "DETAILS")
    popup.press(*["Tab"] * tabs, key)
    if begun == 2:
        gate.open()
    popup.wait_for("stage", since, stage="done" if state is StepState.SUCCEEDED else "failed", run=run_id)
    assert outcome(client, run_id) is state
    assert stage.ledger.begun(run_id) == {"s1": begun}
    hide(popup)


def hidden_approval(popup: Popup, client: Client, gate: str = "") -> str:
    """A run whose approval was seen in the window, which is hidden again."""
    run_id = asking(client, gate)
    open_approval(popup, run_id)
    hide(popup)
    return run_id


@pytest.mark.parametrize(
    "service", [pytest.param(Notifications, id="double"), pytest.param(Dunst, marks=needs_dunst, id="dunst")]
)
def test_a_notification_decides(
    popup: Popup, session: XSession, stage: Stage, client: Client, service: type[Notifications | Dunst]
) -> None:
    """An approval of which the window is hidden is a notification: Deny there carries out nothing, and Approve the call."""
    for label, state, sent in (("Deny", StepState.FAILED, {}), ("Approve", StepState.SUCCEEDED, {"s1": 1})):
        with service(session) as notifications:
            run_id = hidden_approval(popup, client)
            since = popup.seen()
            notifications.choose(label)
            assert outcome(client, run_id) is state
            popup.wait_until(lambda one: one["what"] == "notified" and one["summary"] != ASKED, since)
        assert stage.ledger.ended(run_id) == sent


@pytest.mark.parametrize(("markup", "shown_gate"), [(True, "&lt;b&gt;&amp;"), (False, "<b>&")])
def test_a_notification_shows_the_exact_arguments(
    popup: Popup, session: XSession, client: Client, shown_gate: str, *, markup: bool
) -> None:
    """A service for notifications that reads markup gets the arguments of a call escaped, so that it shows all of them; the
    notification is replaced when the run has ended.
    """
    with Notifications(session, markup=markup) as notifications:
        run_id = hidden_approval(popup, client, "<b>&")
        shown = notifications.next()
        arguments = f'send {{"gate": "{shown_gate}", "seconds": 0.0}}'
        assert shown.summary == ASKED
        why = "Why this is asked: no rule allows it\nUntrusted sources of this run: tool:send."
        assert shown.body == f"{arguments}\n{why}"
        assert list(shown.actions.values()) == ["Open", "Deny", "Approve"]
        notifications.invoke(shown, next(name for name, label in shown.actions.items() if label == "Deny"))
        assert outcome(client, run_id) is StepState.FAILED
        assert notifications.next().replaces == shown.number
