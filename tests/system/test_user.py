"""The daemon of one user, under that user's own systemd."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.installed_service import MEMBER, Finished, Service, run, systemctl

pytestmark = pytest.mark.systemd

AsUser = Callable[..., Finished]


@pytest.fixture
def as_user(service: Service) -> Iterator[AsUser]:
    """What the user types, with the user's systemd running and the scripted model configured."""
    home, uid = Path("/home") / MEMBER, run("id", "--user", MEMBER).stdout.strip()
    config = home / ".config" / "aeond" / "aeond.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[model]\nengine = "scripted"\n', encoding="utf-8")
    run("chown", "--recursive", f"{MEMBER}:{MEMBER}", home)
    systemctl("start", f"user@{uid}.service")
    known = [f"HOME={home}", f"XDG_RUNTIME_DIR=/run/user/{uid}", "PATH=/usr/local/bin:/usr/bin:/bin"]
    become = ["setpriv", "--reuid", MEMBER, "--regid", MEMBER, "--init-groups", "env", "--ignore-environment"]
    yield lambda *words: run(*become, *known, "LC_ALL=C.UTF-8", *words, check=False)
    systemctl("stop", f"user@{uid}.service")
    shutil.rmtree(home)


def test_a_user_has_a_daemon_of_their_own(as_user: AsUser) -> None:
    """An ordinary user starts a daemon with a socket of their own, which aeonctl finds by itself."""
    started = as_user("systemctl", "--user", "start", "aeond")
    assert started.returncode == 0, started.stderr
    told = as_user("aeonctl", "status")
    uid = as_user("id", "--user").stdout.strip()
    assert (told.returncode, f"/run/user/{uid}/aeond/aeond.sock (yours)" in told.stdout) == (0, True)
    places = as_user(
        "stat", "--format", "%U %a", f"/run/user/{uid}/aeond", f"/home/{MEMBER}/.local/state/aeond"
    )
    assert places.stdout == f"{MEMBER} 700\n" * 2
    stopped = as_user("systemctl", "--user", "stop", "aeond")
    assert stopped.returncode == 0, stopped.stderr
    assert as_user("systemctl", "--user", "is-failed", "aeond").stdout == "inactive\n"
