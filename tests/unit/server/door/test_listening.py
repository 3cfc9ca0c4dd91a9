import os
import socket
import stat
from pathlib import Path

import pytest

from aeond.errors import AlreadyExistsError, InvalidInputError, NotFoundError, WrongStateError
from aeond.server.door.listening import bound_socket, inherited_socket


def test_a_bound_socket_has_exactly_the_mode_asked_for(tmp_path: Path) -> None:
    """The socket's file has the mode that was asked for, whatever the umask, and goes when the socket does."""
    path = tmp_path / "a.sock"
    previous = os.umask(0o022)
    try:
        with bound_socket(path, mode=0o660, group_id=os.getgid()):
            status = path.lstat()
            assert stat.S_IMODE(status.st_mode) == 0o660
            assert status.st_gid == os.getgid()
        assert not path.exists()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(previous)


def test_a_stale_socket_file_is_replaced(tmp_path: Path) -> None:
    """A socket file that a daemon left behind when it died does not keep the next one from starting."""
    path = tmp_path / "a.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    with bound_socket(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_live_socket_is_not_taken_over(tmp_path: Path) -> None:
    """A second daemon on the same path is refused and the first one goes on being reachable."""
    path = tmp_path / "a.sock"
    with bound_socket(path), socket.socket(socket.AF_UNIX) as client:
        with pytest.raises(AlreadyExistsError) as raised, bound_socket(path):
            pass
        assert raised.value.reason == "SOCKET_IN_USE"
        client.connect(str(path))


def test_a_successor_keeps_its_socket(tmp_path: Path) -> None:
    """A daemon that ends late does not remove the socket that another one has bound meanwhile."""
    path = tmp_path / "a.sock"
    with bound_socket(path):
        path.unlink()
        successor = socket.socket(socket.AF_UNIX)
        successor.bind(str(path))
    assert path.exists()
    successor.close()


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    """A file of another kind at the socket's path is an error that says so, and is not touched."""
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(WrongStateError) as raised, bound_socket(path):
        pass
    assert raised.value.reason == "SOCKET_PATH_TAKEN"
    assert path.read_text() == "mine"


def test_a_path_that_is_too_long_says_so(tmp_path: Path) -> None:
    """A path longer than the kernel's limit is refused in plain words, not with a system error."""
    with pytest.raises(InvalidInputError) as raised, bound_socket(tmp_path / ("x" * 108)):
        pass
    assert raised.value.reason == "SOCKET_PATH_TOO_LONG"


def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    """A socket in a folder that is not there is refused with the folder's name."""
    with pytest.raises(NotFoundError) as raised, bound_socket(tmp_path / "none" / "a.sock"):
        pass
    assert raised.value.reason == "SOCKET_FOLDER_MISSING"
    assert str(tmp_path / "none") in raised.value.message


def test_an_inherited_listener_is_taken_as_it_is(tmp_path: Path) -> None:
    """A listening socket that another program bound is used, and its file survives us."""
    path = tmp_path / "a.sock"
    with bound_socket(path) as listener:
        descriptor = os.dup(listener.fileno())
        with inherited_socket(descriptor) as inherited, socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            connection, _ = inherited.accept()
            connection.close()
        assert path.exists()


@pytest.mark.parametrize("kind", ["file", "unbound", "internet"])
def test_a_descriptor_that_is_no_listener_is_refused(tmp_path: Path, kind: str) -> None:
    """A descriptor that is not a listening Unix socket is rejected and stays open for its owner."""
    match kind:
        case "file":
            descriptor = os.open(tmp_path, os.O_RDONLY)
        case "unbound":
            descriptor = socket.socket(socket.AF_UNIX).detach()
        case _:
            descriptor = socket.socket(socket.AF_INET).detach()
    with pytest.raises(InvalidInputError) as raised:
        inherited_socket(descriptor)
    assert raised.value.reason == "NOT_A_LISTENER"
    os.close(descriptor)
