"""The service part of docs/tutorial.md, typed word by word."""

import pytest

from tests.support.installed_service import AsUser
from tests.support.tutorial import TUTORIAL, blocks

pytestmark = pytest.mark.systemd


def test_the_service_of_the_tutorial_runs(as_user: AsUser) -> None:
    """With the tutorial's tool and after the installation, an ordinary user enables, uses and removes the service."""
    assert [block.text for block in blocks(TUTORIAL) if block.place == "installation"] == [
        "sudo make install\n"
    ]
    printed = []
    for block in blocks(TUTORIAL):
        if block.place == "service" or "free_space.py" in block.text:
            typed = as_user("bash", "-ec", block.text)
            assert typed.returncode == 0, typed.stdout + typed.stderr
            printed.append(typed.stdout)
    session = "".join(printed)
    assert '"free_gigabytes": ' in session
    assert "active (running)" in session
    assert as_user("systemctl", "--user", "is-active", "aeond.service").stdout == "inactive\n"
