"""MCP servers under the hardened service, with the drop-in that comes with it."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installed_service import DROP_INS, MEMBER, Service, aeonctl, run, systemctl
from tests.support.repository import ROOT
from tests.system.test_isolation import bubblewrap_works_for

pytestmark = pytest.mark.systemd

DROP_IN = Path("/usr/local/share/doc/aeond/with-programs.conf")
HOME = Path("/usr/local/lib/aeond")
SERVER = Path("/srv/aeond-mcp/mcp_server.py")


SECTION = f"""[mcp.demo]
command = "{HOME}/bin/python"
args = ["{SERVER}", "stdio"]
readable = ["{SERVER.parent}"]
"""


@pytest.fixture
def serving(service: Service) -> Iterator[Service]:
    """The service with an MCP server that is configured."""
    if not bubblewrap_works_for(MEMBER):
        pytest.skip("an ordinary user has no bubblewrap here (with-systemd --proc rw gives it)")
    SERVER.parent.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "support" / "mcp_server.py", SERVER)
    os.chmod(SERVER, 0o644)
    service.configure(extra=SECTION)
    yield service
    shutil.rmtree(SERVER.parent)
    (DROP_INS / DROP_IN.name).unlink(missing_ok=True)
    systemctl("daemon-reload")


def found() -> dict[str, str]:
    """What `aeond doctor` of root says about the service."""
    report = run("/usr/local/bin/aeond", "doctor", "--json", check=False)
    return {
        one["verdict"]: one["found"]
        for one in json.loads(report.stdout)["findings"]
        if one["subject"] == "aeond.service"
    }


def test_a_server_works_with_the_drop_in(serving: Service) -> None:
    """As installed the service runs no server, and `aeond doctor` names the settings; with the drop-in the server answers."""
    systemctl("start", "aeond")
    assert aeonctl(MEMBER, "tools", "demo_echo").returncode != 0
    assert "RestrictNamespaces" in found()["doubtful"]
    shutil.copy(DROP_IN, DROP_INS)
    systemctl("daemon-reload")
    systemctl("restart", "aeond")
    assert set(found()) == {"good"}
    described = aeonctl(MEMBER, "tools", "demo_echo", "--json")
    digest = json.loads(described.stdout)["digest"]
    serving.configure(extra=f'accepted = ["{digest}"]\n{SECTION}[mcp.demo.effects]\necho = "pure"\n')
    systemctl("restart", "aeond")
    answered = aeonctl(MEMBER, "call", "--workspace", "", "demo_echo", "text=hi")
    assert answered.stdout == "hi\n", answered.stderr
