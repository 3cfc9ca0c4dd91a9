"""Whatever keeps the service from its work, systemd starts it again; and what does not, leaves it alone."""

import json
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from tests.support.installed_service import MEMBER, STATE, Service, aeonctl, shown, systemctl, until

pytestmark = pytest.mark.systemd

# The installed unit has 20 s; the behaviour does not depend on the value.
WATCHED = ("WatchdogSec=3", "RestartSec=200ms")
STARTS_A_MINUTE = 5
STACKS = "Fatal Python error: Aborted"


def restarted(killed: str) -> bool:
    """Whether another process than this one serves now."""
    return shown("ActiveState") == "active" and shown("MainPID") not in {"0", killed}


def started_or_given_up(killed: str) -> bool:
    return restarted(killed) or shown("ActiveState") == "failed"


def ask(service: Service, *steps: dict[str, object]) -> str:
    """Asks for these steps and returns the run's id once the run is durable."""
    asked = aeonctl(MEMBER, "ask", "--detach", "--workspace", "", "--plan", service.plan("deeds", *steps))
    assert asked.returncode == 0, asked.stderr
    return asked.stdout.strip()


def test_a_stopped_process_is_started_again(service: Service) -> None:
    """A main process that is stopped by a signal gives no signs, is aborted and started again."""
    service.change(*WATCHED)
    systemctl("start", "aeond")
    stopped = shown("MainPID")
    systemctl("kill", "--kill-who", "main", "--signal", "STOP", "aeond")
    until(lambda: restarted(stopped), "the restart")
    assert "Watchdog timeout" in service.said()
    assert aeonctl(MEMBER, "status").returncode == 0


def test_a_blocked_loop_is_started_again_and_shows_where(service: Service) -> None:
    """A tool that holds the event loop costs a restart: the log has the stacks, the run waits for a person."""
    service.change(*WATCHED)
    systemctl("start", "aeond")
    blocked = shown("MainPID")
    run_id = ask(service, {"step_id": "s1", "tool": "hold_the_loop", "arguments": {"seconds": 60}})
    until(lambda: restarted(blocked), "the restart")
    said = service.said()
    assert STACKS in said
    assert "in hold_the_loop" in said
    run = json.loads(aeonctl(MEMBER, "show", run_id, "--json").stdout)
    assert (run["state"], run["steps"][0]["state"]) == ("suspended", "unknown")


def test_a_blocked_writer_is_started_again_and_shows_where(service: Service) -> None:
    """A journal that another program holds costs a restart, and its stacks show the writer at its commit."""
    service.change(*WATCHED)
    systemctl("start", "aeond")
    blocked = shown("MainPID")
    with closing(sqlite3.connect(STATE / "journal.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        until(lambda: STACKS in service.said(), "the abort")
        other.execute("ROLLBACK")
    until(lambda: restarted(blocked), "the restart")
    assert "in _transact" in service.said()
    assert aeonctl(MEMBER, "status").returncode == 0


def test_a_service_that_only_fails_is_given_up(service: Service) -> None:
    """After five failures in the time that the unit names systemd starts it no more, until a person says so."""
    service.change("RestartSec=0", "[Unit]", "StartLimitIntervalSec=600")  # a slow machine takes its time
    systemctl("start", "aeond")
    for _ in range(STARTS_A_MINUTE):
        killed = shown("MainPID")
        systemctl("kill", "--kill-who", "main", "--signal", "KILL", "aeond")
        until(partial(started_or_given_up, killed), "what comes of it")
    assert (shown("ActiveState"), shown("NRestarts")) == ("failed", str(STARTS_A_MINUTE)), service.said()
    assert "Start request repeated too quickly" in service.said()
    systemctl("reset-failed", "aeond.service", "aeond.socket")
    systemctl("start", "aeond")
    assert aeonctl(MEMBER, "status").returncode == 0
