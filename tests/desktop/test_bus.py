"""The popup on the session bus: one instance, actions, activation and notifications."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from aeon_popup.toggle import NoBusError, send_action
from aeond_client import Client, RunOptions
from aeond_client.events import InputRequested
from tests.support.daemon_process import DaemonProcess
from tests.support.desktop_bus import Notifications
from tests.support.desktop_session import (
    DEADLINE_SECONDS,
    Popup,
    Session,
    Traced,
    XSession,
    armed_popup,
    start_bus,
)
from tests.support.dunst import Dunst, needs_dunst
from tests.support.ledgers import Gate
from tests.support.popup_script import QUESTION, asking


def test_toggle_opens_and_closes(lonely: Popup) -> None:
    """`aeon-popup --toggle` opens the window of the running popup, and closes it the next time."""
    for what in ("shown", "hidden"):
        since = lonely.seen()
        send_action("toggle", lonely.session.environment)
        lonely.wait_for(what, since)


def test_new_hide_and_show_open_and_close_the_window(lonely: Popup) -> None:
    """`aeon-popup --new`, `--hide` and `--show` open, close and open the window of the running popup."""
    for action, what in (("new", "shown"), ("hide", "hidden"), ("show", "shown")):
        since = lonely.seen()
        send_action(action, lonely.session.environment)
        lonely.wait_for(what, since)


@pytest.mark.parametrize(("arguments", "shown"), [([], 2), (["--background"], 1)])
def test_a_second_instance_shows_the_first(
    lonely: Popup, tmp_path: Path, arguments: list[str], shown: int
) -> None:
    """Starting the program again shows the window that exists and ends with success; with `--background` it only ends."""
    since = lonely.seen()
    command = [sys.executable, "-m", "aeon_popup", "--socket", str(tmp_path / "none.sock"), *arguments]
    subprocess.run(command, env=lonely.session.environment, check=True, timeout=DEADLINE_SECONDS)
    if shown == 2:
        lonely.wait_for("shown", since)
    send_action("hide", lonely.session.environment)
    before = lonely.seen()
    send_action("show", lonely.session.environment)
    lonely.wait_for("shown", before)
    assert len(lonely.all("shown", since)) == shown


def test_an_unknown_action_is_an_error(lonely: Popup) -> None:
    """An action that the popup does not have is answered with the ones that it has."""
    with pytest.raises(NoBusError, match="toggle, show, hide, new, quit"):
        send_action("dance", lonely.session.environment)


def test_quit_ends_the_program(lonely: Popup) -> None:
    """The action quit ends the program in an orderly way."""
    send_action("quit", lonely.session.environment)
    assert lonely.process.wait(DEADLINE_SECONDS) == 0


def test_the_bus_starts_the_program_by_the_installed_files(session: XSession, tmp_path: Path) -> None:
    """After `aeon-popup --install` a call to the name of the popup starts the program with the options given there, whose window
    then appears.
    """
    program = str(Path(sys.executable).with_name("aeon-popup"))
    own = {**session.environment, "HOME": str(tmp_path), "AEOND_SOCKET": str(tmp_path / "none.sock")}
    given = ["--hotkey", 'Ctrl+Alt+"', "--socket", str(tmp_path / r"it's \none")]
    command = [program, "--install", *given]
    subprocess.run(command, env=own, check=True, capture_output=True, timeout=DEADLINE_SECONDS)
    with ExitStack() as stack:
        trace = stack.enter_context(Traced(session.folder))
        services = tmp_path / ".local/share/dbus-1/services"
        own["DBUS_SESSION_BUS_ADDRESS"] = start_bus(
            stack, tmp_path, services, environment={**own, **trace.environment}
        )
        send_action("show", own)
        trace.wait_for("painted")
        window = session.popup_window()
        started = psutil.Process(int(session.xdotool("getwindowpid", window)))
        assert [program, "--background", *given] == started.cmdline()[-6:]
        send_action("quit", own)
        started.wait(DEADLINE_SECONDS)


def test_without_a_bus_the_help_says_what_to_do() -> None:
    """Where there is no session bus, `--toggle` says so, and the help names the command to bind to a key."""
    with pytest.raises(NoBusError, match="DBUS_SESSION_BUS_ADDRESS is not set"):
        send_action("toggle", {})
    words = [sys.executable, "-m", "aeon_popup", "--help"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=DEADLINE_SECONDS).stdout
    assert "aeon-popup --toggle" in shown


def hidden_question(popup: Popup, gate: Gate, client: Client) -> tuple[str, int]:
    """A run that asks a question after the window that showed it was hidden; and the number of entries before."""
    run_id = client.create_run(QUESTION, RunOptions(plan=asking(gate))).run_id
    gate.held()
    popup.open()
    since = popup.seen()
    popup.press("Up")
    popup.wait_for("history", since)
    popup.press("Return")
    popup.wait_for("stage", since, stage="running")
    popup.press("Escape")
    popup.wait_for("hidden", since)
    gate.open()
    return run_id, since


@needs_dunst
def test_a_real_service_for_notifications_answers_a_question(
    session: XSession, popup: Popup, gate: Gate, daemon: DaemonProcess
) -> None:
    """An option that is chosen in the menu of dunst answers the question."""
    with Dunst(session) as dunst, Client(str(daemon.socket)) as client:
        run_id, since = hidden_question(popup, gate, client)
        dunst.choose("blue")
        popup.wait_for("event", since, kind="RunEnded")
        assert client.get_run(run_id).steps[1].output == "blue"


def test_a_hidden_question_is_a_notification_with_its_options(
    session: Session, popup: Popup, gate: Gate, daemon: DaemonProcess
) -> None:
    """While the window is hidden, a question becomes a notification; choosing an option there answers it."""
    with Notifications(session) as notifications, Client(str(daemon.socket)) as client:
        run_id, since = hidden_question(popup, gate, client)
        shown = notifications.next()
        options = {"default": "Open", f"0:{run_id}/s2.1": "red", f"1:{run_id}/s2.1": "blue"}
        assert (shown.summary, shown.actions) == ("Which colour?", options)
        notifications.invoke(shown, f"1:{run_id}/s2.1")
        done = notifications.next()
        assert (done.summary, done.replaces) == (f"Done: {QUESTION}", shown.number)
        notifications.invoke(done, "default")
        popup.wait_for("stage", since, stage="done")


def test_a_popup_that_is_started_again_notifies_what_waits(
    session: XSession, gate: Gate, daemon: DaemonProcess
) -> None:
    """A run that waited for an answer when the popup was started becomes a notification, which answers it."""
    with Client(str(daemon.socket)) as client, Notifications(session) as notifications:
        run_id = client.create_run(QUESTION, RunOptions(plan=asking(gate))).run_id
        gate.held()
        gate.open()
        with client.watch(run_id) as events:
            next(event for event in events if isinstance(event.kind, InputRequested))
        with armed_popup(session, daemon.socket) as popup:
            shown = notifications.next()
            assert shown.summary == "Which colour?"
            notifications.invoke(shown, f"1:{run_id}/s2.1")
            popup.wait_for("event", kind="RunEnded", run=run_id)
        assert client.get_run(run_id).steps[1].output == "blue"
