"""Clients of the installed service notice nothing of its restarts."""

import os
import subprocess
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from aeond_client.calls.run_calls import RunOptions
from aeond_client.client import Client
from aeond_client.connection.retries import Retries
from aeond_client.events import RunEnded
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.installed_service import (
    DEADLINE_SECONDS,
    MEMBER,
    SOCKET,
    Service,
    command_of,
    shown,
    systemctl,
    until,
)

pytestmark = pytest.mark.systemd

RESTARTS = 20
CLIENTS = 4
SUM = {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}}


class Load(threading.Thread):
    """A client that creates one run after another, watches each to its end, and keeps the received events."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.enough = threading.Event()
        self.seqs: dict[str, list[int]] = {}
        self.last_seqs: dict[str, int] = {}
        self.error: BaseException | None = None

    def run(self) -> None:
        steps = tuple(
            PlanStep(f"s{number}", "say it", "echo", {"text": str(number)}) for number in range(1, 7)
        )
        options = RunOptions(plan=Plan("say it", steps))
        try:
            with Client(SOCKET, retries=Retries(attempts=60)) as client:
                while not self.enough.is_set():
                    self._follow(client, client.create_run("say it", options).run_id)
        except Exception as error:  # noqa: BLE001 - reported to the test
            self.error = error

    def _follow(self, client: Client, run_id: str) -> None:
        seqs = self.seqs[run_id] = []
        with client.watch(run_id) as events:
            for event in events:
                if event.seq:
                    seqs.append(event.seq)
                if isinstance(event.kind, RunEnded):
                    assert event.kind.state is RunState.SUCCEEDED
        self.last_seqs[run_id] = client.get_run(run_id).last_seq


def restart(number: int) -> None:
    """An orderly restart, or every fifth time a kill, and back again."""
    systemctl("reset-failed", "aeond.service", check=False)  # this many in a minute are meant
    if number % 5:
        systemctl("restart", "aeond")
        return
    killed = shown("MainPID")
    systemctl("kill", "--kill-who", "main", "--signal", "KILL", "aeond")
    until(lambda: shown("ActiveState") == "active" and shown("MainPID") not in {"0", killed}, "the restart")


def finished(clients: Sequence[Load]) -> int:
    """How many runs the clients have seen to their end."""
    return sum(len(client.last_seqs) for client in clients)


def goes_on(clients: Sequence[Load], before: int) -> bool:
    return finished(clients) > before or any(client.error for client in clients)


def test_clients_get_every_event_once_over_many_restarts(service: Service) -> None:
    """Over twenty restarts under load no client misses an event of its runs, gets one twice or sees an error."""
    service.change("RestartSec=100ms")
    systemctl("start", "aeond")
    clients = [Load() for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for number in range(1, RESTARTS + 1):
        before = finished(clients)
        restart(number)
        # Work goes on before the next one: this is load, not an idle daemon.
        until(partial(goes_on, clients, before), "a run's end")
        assert [client.error for client in clients] == [None] * CLIENTS
    for client in clients:
        client.enough.set()
    for client in clients:
        client.join(DEADLINE_SECONDS)
        assert not client.is_alive(), "a client did not end"
    assert [client.error for client in clients] == [None] * CLIENTS
    received = {run_id: seqs for client in clients for run_id, seqs in client.seqs.items()}
    last = {run_id: seq for client in clients for run_id, seq in client.last_seqs.items()}
    assert len(received) >= RESTARTS
    assert received == {run_id: list(range(1, seq + 1)) for run_id, seq in last.items()}


def test_who_connects_during_a_restart_is_served(service: Service, tmp_path: Path) -> None:
    """A client that comes while the service is between two lives waits, and is answered by the next one."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    systemctl("start", "aeond")
    service.change(f"ExecStartPre=+/bin/sh -c 'read line < {gate}'", "TimeoutStartSec=60")
    systemctl("restart", "--no-block", "aeond")
    opener = os.open(gate, os.O_WRONLY)  # returns once the new life waits at the gate, and the old is over
    words = ("ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    with subprocess.Popen(
        command_of(MEMBER, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
    ) as asked:
        until(lambda: _connections() >= 2, "the client")  # one to see who listens, one to ask
        assert shown("SubState") == "start-pre"
        os.write(opener, b"go\n")
        os.close(opener)
        out, err = asked.communicate(timeout=DEADLINE_SECONDS)
    assert (asked.returncode, "420" in out) == (0, True), err


def _connections() -> int:
    """How many have connected to the socket, accepted or not."""
    sockets = Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
    return sum(line.endswith(f" {SOCKET}") for line in sockets) - 1  # less the listening one
