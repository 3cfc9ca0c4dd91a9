"""A machine with systemd on which aeond was installed: `make system-test` boots one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_service import MEMBER, AsUser, Service, run, systemctl, uid_of_member


@pytest.fixture(scope="session")
def installed() -> Service:
    """aeond, installed and never started."""
    if "WITH_SYSTEMD" not in os.environ or "AEOND_STAGE" not in os.environ:
        pytest.skip("needs a systemd that may be spoilt: make system-test boots one")
    service = Service()
    service.install(Path(os.environ["AEOND_STAGE"]))
    return service


@pytest.fixture
def service(installed: Service) -> Iterator[Service]:
    """The service, stopped, with no state of the test before."""
    installed.renew()
    yield installed
    installed.renew()


@pytest.fixture
def as_user(service: Service) -> Iterator[AsUser]:
    """Runs a command as the user, with the user's systemd running and the scripted model configured."""
    home, uid = Path("/home") / MEMBER, uid_of_member()
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
