"""The socket that a service manager hands over."""

import os
import subprocess
import sys

import pytest

from aeond.daemon.socket_activation import Inherited, inherited_descriptors
from aeond.errors import InvalidInputError

# A program that does what a service manager does: sockets at 3 and 4, their count, their names and our process in the
# environment; and then says what was found.
HANDED_OVER = """
import os, socket
from aeond.daemon.socket_activation import inherited_descriptors
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
os.dup2(os.dup2(listener.fileno(), 3), 4)
os.environ.update(LISTEN_FDS="2", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="admin:aeond.socket")
found = inherited_descriptors()
print(found.main, found.admin, *map(os.get_inheritable, (3, 4)), [name for name in os.environ if "LISTEN" in name])
"""


def test_the_handed_over_sockets_are_found_and_kept_from_children() -> None:
    """The daemon takes the sockets it was handed, the administrative one by its name, and no child inherits them."""
    completed = subprocess.run(
        [sys.executable, "-c", HANDED_OVER], capture_output=True, text=True, check=True, timeout=60
    )
    assert completed.stdout == "4 3 False False []\n"


@pytest.mark.parametrize(("count", "process"), [("", ""), ("0", "ours"), ("1", "1"), ("some", "ours")])
def test_sockets_of_another_process_are_ignored(
    monkeypatch: pytest.MonkeyPatch, count: str, process: str
) -> None:
    """Without a socket for this very process the daemon makes its own."""
    monkeypatch.setenv("LISTEN_FDS", count)
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()) if process == "ours" else process)
    assert inherited_descriptors() == Inherited()
    assert "LISTEN_FDS" not in os.environ


@pytest.mark.parametrize(("names", "unit"), [("a:b", "aeond"), ("", "aeond"), ("admin:admin", "aeond-admin")])
def test_two_sockets_are_one_too_many(monkeypatch: pytest.MonkeyPatch, names: str, unit: str) -> None:
    """A socket unit with more than one address is rejected with a message that names the file to correct."""
    monkeypatch.setenv("LISTEN_FDS", "2")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDNAMES", names)
    monkeypatch.setattr(os, "set_inheritable", lambda *_: None)
    with pytest.raises(InvalidInputError, match=f"in {unit}[.]socket") as raised:
        inherited_descriptors()
    assert raised.value.reason == "SOCKET_COUNT"
