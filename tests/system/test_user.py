"""The daemon of one user, under that user's own systemd."""

import pytest

from tests.support.installed_service import MEMBER, SOCKET, AsUser, systemctl, uid_of_member

pytestmark = pytest.mark.systemd


def socket_in_use(as_user: AsUser, *words: str) -> str:
    """Which socket aeonctl says that it uses."""
    completed = as_user(*(words or ("aeonctl",)), "status")
    assert completed.returncode == 0, completed.stderr
    return next(line for line in completed.stdout.splitlines() if line.startswith("socket")).split(
        maxsplit=1
    )[1]


def test_a_user_has_a_daemon_of_their_own(as_user: AsUser) -> None:
    """An ordinary user enables and starts a daemon whose socket and state are for that user alone."""
    started = as_user("systemctl", "--user", "enable", "--now", "aeond")
    assert started.returncode == 0, started.stderr
    place = f"/run/user/{uid_of_member()}/aeond"
    assert socket_in_use(as_user) == f"{place}/aeond.sock (yours)"
    places = as_user("stat", "--format", "%U %a", place, f"/home/{MEMBER}/.local/state/aeond")
    assert places.stdout == f"{MEMBER} 700\n" * 2
    assert as_user("stat", "--format", "%U %a %F", f"{place}/aeond.sock").stdout == f"{MEMBER} 600 socket\n"
    enabled = as_user("systemctl", "--user", "is-enabled", "aeond.service", "aeond.socket")
    assert enabled.stdout == "enabled\n" * 2
    stopped = as_user("systemctl", "--user", "stop", "aeond.socket", "aeond.service")
    assert stopped.returncode == 0, stopped.stderr
    assert as_user("systemctl", "--user", "is-failed", "aeond").stdout == "inactive\n"


def test_a_user_s_first_request_starts_their_daemon(as_user: AsUser) -> None:
    """With only the user's socket listening, the first request starts the daemon and is answered."""
    assert as_user("systemctl", "--user", "start", "aeond.socket").returncode == 0
    assert as_user("systemctl", "--user", "is-active", "aeond.service").stdout == "inactive\n"
    called = as_user("aeonctl", "call", "calculator", "expression=17.5 / 100 * 2400")
    assert (called.returncode, "420" in called.stdout) == (0, True), called.stderr
    assert as_user("systemctl", "--user", "is-active", "aeond.service").stdout == "active\n"
    reloaded = as_user("aeonctl", "reload")
    assert (reloaded.returncode, "changed        nothing" in reloaded.stdout) == (0, True), reloaded.stderr


def test_clients_find_the_socket_and_say_which(as_user: AsUser) -> None:
    """The option comes first, then the environment, the user's own socket, and the system's; each is named."""
    systemctl("start", "aeond")
    as_user("systemctl", "--user", "start", "aeond")
    own = f"/run/user/{uid_of_member()}/aeond/aeond.sock"
    named = ("env", f"AEOND_SOCKET={SOCKET}", "aeonctl")
    assert socket_in_use(as_user, *named, "--socket", own) == f"{own} (as given)"
    assert socket_in_use(as_user, *named) == f"{SOCKET} (from AEOND_SOCKET)"
    assert socket_in_use(as_user) == f"{own} (yours)"
    as_user("systemctl", "--user", "stop", "aeond.socket", "aeond.service")
    assert socket_in_use(as_user) == f"{SOCKET} (the system's)"


def test_a_user_s_facade_is_a_unit(as_user: AsUser) -> None:
    """A facade is off until its user starts it; then it listens for that user alone, and its first request starts the daemon."""
    unit = "aeond-facade@openai.service"
    assert as_user("systemctl", "--user", "is-active", unit).stdout == "inactive\n"
    assert as_user("systemctl", "--user", "start", "aeond.socket").returncode == 0
    started = as_user("systemctl", "--user", "start", unit)
    assert started.returncode == 0, started.stderr
    path = f"/run/user/{uid_of_member()}/aeond-openai.sock"
    assert as_user("stat", "--format", "%U %a %F", path).stdout == f"{MEMBER} 600 socket\n"
    asked = as_user("curl", "-s", "--unix-socket", path, "http://localhost/v1/models")
    assert '"aeond"' in asked.stdout, asked.stderr
    assert as_user("systemctl", "--user", "stop", unit, "aeond.socket", "aeond.service").returncode == 0
    assert as_user("systemctl", "--user", "is-failed", unit).stdout == "inactive\n"
