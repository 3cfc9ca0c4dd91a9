"""The installed service under the real systemd."""

import json
import subprocess
from time import monotonic

import pytest

from tests.support.installed_service import (
    DEADLINE_SECONDS,
    ETC,
    MEMBER,
    OUTSIDER,
    SOCKET,
    STATE,
    Service,
    aeonctl,
    command_of,
    journal,
    run,
    shown,
    systemctl,
    until,
)

pytestmark = pytest.mark.systemd

SUM = {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}}


def test_the_socket_is_the_group_s(service: Service) -> None:
    """The socket is in a folder owned by root and accessible only to members of the group."""
    systemctl("start", "aeond.socket")
    found = run("stat", "--format", "%U:%G %a", SOCKET.parent, SOCKET).stdout
    assert found == "root:root 755\nroot:aeond 660\n"


def test_started_means_ready(service: Service) -> None:
    """When `systemctl start aeond` returns, the daemon answers a member of the group at once."""
    systemctl("start", "aeond")
    completed = aeonctl(MEMBER, "status", "--json")
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout)["state"] == "ready"
    assert run("stat", "--format", "%U %a", STATE).stdout == "aeond 700\n"


def test_a_failed_start_is_reported_as_failed(service: Service) -> None:
    """A wrong configuration fails the start with its exit code, is named in the journal and not retried."""
    service.configure(extra="[runs]\nmax_runing = 3\n")
    assert run("systemctl", "start", "aeond", check=False).returncode != 0
    assert (shown("Result"), shown("ExecMainStatus"), shown("NRestarts")) == ("exit-code", "2", "0")
    assert "unknown key runs.max_runing" in journal()


def test_a_member_of_the_group_has_a_plan_run(service: Service) -> None:
    """A member of the group asks, and gets the answer; the run is written down as that user's."""
    systemctl("start", "aeond")
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    assert (asked.returncode, "420" in asked.stdout) == (0, True), asked.stderr
    uid = int(run("id", "--user", MEMBER).stdout)
    assert f'"uid": {uid}' in aeonctl(MEMBER, "show", "last", "--json").stdout


def test_a_user_outside_the_group_reads_the_reason(service: Service) -> None:
    """A user outside of the group learns that the socket is not for them, and whose it is."""
    systemctl("start", "aeond")
    asked = aeonctl(OUTSIDER, "status")
    assert (asked.returncode, asked.stdout) == (7, "")
    assert "join its group (often `aeond`)" in asked.stderr


def test_a_user_who_is_not_listed_reads_the_reason(service: Service) -> None:
    """A member of the group whom the configuration does not name is refused in words, by number."""
    service.configure(extra=f'[socket]\nallow_users = ["{OUTSIDER}"]\n')
    systemctl("start", "aeond")
    asked = aeonctl(MEMBER, "status")
    uid = run("id", "--user", MEMBER).stdout.strip()
    assert asked.returncode == 7
    assert f"User {uid} may not use this daemon" in asked.stderr


def test_systemctl_shows_how_the_daemon_is(service: Service) -> None:
    """`systemctl status aeond` says what the model does and how many runs are running."""
    systemctl("start", "aeond")
    until(lambda: "0 running" in shown("StatusText"), "a line of status")
    assert 'Status: "scripted: ready; runs: 0 running, 0 waiting' in systemctl("status", "aeond")
    gate = service.gate()
    assert (
        aeonctl(MEMBER, "ask", "--detach", "--workspace", "", "--plan", service.deeds(gate)).returncode == 0
    )
    gate.held()
    until(lambda: "1 running" in shown("StatusText"), "the run in the line of status")


def test_the_first_connection_starts_the_daemon(service: Service) -> None:
    """With only the socket listening, the first request starts the daemon and is answered."""
    systemctl("start", "aeond.socket")
    assert shown("ActiveState") == "inactive"
    asked = aeonctl(MEMBER, "ask", "-q", "--workspace", "", "--plan", service.plan("the bonus", SUM))
    assert (asked.returncode, "420" in asked.stdout) == (0, True), asked.stderr
    assert shown("ActiveState") == "active"


def test_a_stop_parks_runs_and_a_start_takes_them_up(service: Service) -> None:
    """A stop with a run in flight is an orderly end; the next start finishes it, each effect once."""
    systemctl("start", "aeond")
    gate = service.gate()
    asked = aeonctl(MEMBER, "ask", "--detach", "--workspace", "", "--plan", service.deeds(gate))
    run_id = asked.stdout.strip()
    gate.held()
    systemctl("stop", "aeond.socket", "aeond.service")
    assert (shown("ActiveState"), shown("Result"), shown("ExecMainStatus")) == ("inactive", "success", "0")
    assert "run parked: the next daemon resumes it" in service.said()
    systemctl("start", "aeond")
    gate.open()
    assert aeonctl(MEMBER, "watch", "-q", run_id).returncode == 0
    done = service.ledger.ended(run_id)
    assert (done["s1"], done["s3"]) == (1, 1), service.ledger.lines  # s2 has no effects: it may run again
    assert done["s2"] >= 1


def test_a_stop_that_takes_long_is_given_its_time(service: Service) -> None:
    """A stop waits for a step with effects beyond the unit's own limit, for as long as it was configured to."""
    limit_seconds = 3
    service.configure(extra="[daemon]\nstop_seconds = 60.0\n")
    service.change(f"TimeoutStopSec={limit_seconds}")
    systemctl("start", "aeond")
    gate = service.gate()
    step = {"step_id": "s1", "tool": "run", "arguments": {"gate": str(gate.path)}}
    asked = aeonctl(MEMBER, "ask", "--detach", "--workspace", "", "--plan", service.plan("a deed", step))
    assert asked.returncode == 0, asked.stderr
    gate.held()
    systemctl("stop", "--no-block", "aeond.socket", "aeond.service")
    until(lambda: shown("ActiveState") == "deactivating", "the stop")
    stopping = monotonic()
    until(lambda: monotonic() > stopping + limit_seconds + 1, "the limit")
    assert shown("ActiveState") == "deactivating"
    gate.open()
    until(lambda: shown("ActiveState") == "inactive", "the end")
    assert (shown("Result"), service.ledger.ended(asked.stdout.strip())["s1"]) == ("success", 1)


def test_a_killed_daemon_comes_back_and_no_client_misses_anything(service: Service) -> None:
    """systemd starts a killed daemon again, the run goes on, and who watches gets every event once."""
    systemctl("start", "aeond")
    gate = service.gate()
    words = ("ask", "--json", "--workspace", "", "--plan", service.deeds(gate))
    with subprocess.Popen(
        command_of(MEMBER, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
    ) as asked:
        gate.held()
        killed = shown("MainPID")
        systemctl("kill", "--kill-who", "main", "--signal", "KILL", "aeond")
        until(lambda: shown("NRestarts") == "1" and shown("ActiveState") == "active", "the restart")
        assert shown("MainPID") != killed
        gate.open()
        out, err = asked.communicate(timeout=DEADLINE_SECONDS)
    assert asked.returncode == 0, err + journal()
    numbers = [event["seq"] for event in map(json.loads, out.splitlines()) if event.get("seq")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 8


def test_the_daemon_cannot_leave_its_places(service: Service) -> None:
    """The service runs as its own user, without capabilities, with no network but its own loopback."""
    systemctl("start", "aeond")
    pid = shown("MainPID")
    state = run("cat", f"/proc/{pid}/status").stdout
    assert run("stat", "--format", "%U", f"/proc/{pid}").stdout == "aeond\n"
    assert "CapBnd:\t0000000000000000" in state
    assert "NoNewPrivs:\t1" in state
    assert "Seccomp:\t2" in state
    devices = run("nsenter", "--target", pid, "--net", "--", "cat", "/proc/net/dev").stdout.splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]
    refused = run("nsenter", "--target", pid, "--mount", "--", "touch", ETC / "new", check=False)
    assert "Read-only file system" in refused.stderr
