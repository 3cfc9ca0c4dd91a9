"""The sockets of a façade."""

import socket
import stat
from pathlib import Path

import pytest

from aeond.facades.listeners import HOST, FacadeError, Places, default_path, open_sockets

KEY = "a key of sixteen characters or more"


def reason_of(places: Places) -> str:
    with pytest.raises(FacadeError) as caught, open_sockets(places):
        pass
    return caught.value.reason


def test_the_unix_socket_is_for_its_owner_alone_and_removed_at_the_end(tmp_path: Path) -> None:
    """The socket has mode 0600 while the façade serves, and no longer exists afterwards."""
    path = tmp_path / "facade.sock"
    with open_sockets(Places(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


def test_a_socket_that_was_left_over_is_replaced(tmp_path: Path) -> None:
    """After a crash, the next start takes the path of the socket that remained."""
    path = tmp_path / "facade.sock"
    with socket.socket(socket.AF_UNIX) as crashed:
        crashed.bind(str(path))
    with open_sockets(Places(path)) as sockets:
        assert [one.getsockname() for one in sockets] == [str(path)]


def test_a_socket_in_use_is_left_alone(tmp_path: Path) -> None:
    """A second façade at the same path ends with an error, and the first one keeps its socket."""
    path = tmp_path / "facade.sock"
    with open_sockets(Places(path)) as sockets:
        sockets[0].listen()
        assert reason_of(Places(path)) == "SOCKET_IN_USE"
        assert path.exists()


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    """A file at the path of the socket is never removed."""
    path = tmp_path / "facade.sock"
    path.write_text("mine", encoding="utf-8")
    assert reason_of(Places(path)) == "SOCKET_FAILED"
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_path_that_no_socket_can_have_is_refused(tmp_path: Path) -> None:
    """A path that is too long, or in a folder that does not exist, is an error with its cause."""
    assert reason_of(Places(tmp_path / ("x" * 200))) == "SOCKET_FAILED"
    assert reason_of(Places(tmp_path / "none" / "facade.sock")) == "SOCKET_FAILED"


@pytest.mark.parametrize("key", ["", "short"])
def test_a_port_needs_a_key(key: str) -> None:
    """There is no port without a key that cannot be guessed."""
    assert reason_of(Places(port=0, key=key)) == "SECRET_MISSING"


def test_a_port_is_of_the_loopback_interface(tmp_path: Path) -> None:
    """The port cannot be reached from other machines; the Unix socket exists beside it."""
    with open_sockets(Places(tmp_path / "facade.sock", 0, KEY)) as sockets:
        assert sockets[1].getsockname()[0] == HOST


def test_a_port_in_use_is_an_error_that_leaves_no_socket(tmp_path: Path) -> None:
    """If the port is taken, nothing is served and no socket remains."""
    path = tmp_path / "facade.sock"
    with open_sockets(Places(port=0, key=KEY)) as sockets:
        sockets[0].listen()
        assert reason_of(Places(path, sockets[0].getsockname()[1], KEY)) == "SOCKET_FAILED"
    assert not path.exists()


def test_nowhere_to_listen_is_an_error() -> None:
    """A façade without a socket and without a port is refused."""
    assert reason_of(Places()) == "SOCKET_MISSING"


def test_the_usual_path_is_in_the_private_folder_of_the_user() -> None:
    """Without --socket, the socket is in the runtime folder; without one, the error names --socket."""
    assert default_path("openai", {"XDG_RUNTIME_DIR": "/run/user/7"}) == Path("/run/user/7/aeond-openai.sock")
    with pytest.raises(FacadeError, match="--socket"):
        default_path("openai", {})
