"""The socket that a service manager hands over."""

import os
import subprocess
import sys

import pytest

from aeond.daemon.lifecycle.socket_activation import inherited_descriptor
from aeond.errors import InvalidInputError

# A program that does what a service manager does: a socket at 3, its count and our process in the
# environment; and then says what was found.
HANDED_OVER = """
import os, socket
from aeond.daemon.lifecycle.socket_activation import inherited_descriptor
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
os.dup2(listener.fileno(), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="aeond.socket")
print(inherited_descriptor(), os.get_inheritable(3), [name for name in os.environ if "LISTEN" in name])
"""


def test_the_handed_over_socket_is_found_and_kept_from_children() -> None:
    """The daemon takes the socket it was handed, and neither it nor a word of it reaches a child."""
    told = subprocess.run(
        [sys.executable, "-c", HANDED_OVER], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout == "3 False []\n"


@pytest.mark.parametrize(("count", "process"), [("", ""), ("0", "ours"), ("1", "1"), ("some", "ours")])
def test_what_was_meant_for_another_is_left(
    monkeypatch: pytest.MonkeyPatch, count: str, process: str
) -> None:
    """Without a socket for this very process the daemon makes its own."""
    monkeypatch.setenv("LISTEN_FDS", count)
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()) if process == "ours" else process)
    assert inherited_descriptor() is None
    assert "LISTEN_FDS" not in os.environ


def test_two_sockets_are_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket unit with more than one address is rejected with a message that names the file to correct."""
    monkeypatch.setenv("LISTEN_FDS", "2")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    with pytest.raises(InvalidInputError, match=r"in aeond[.]socket") as raised:
        inherited_descriptor()
    assert raised.value.reason == "SOCKET_COUNT"
