"""Finding the daemon's socket."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aeond_client.connection.sockets import (
    SYSTEM_SOCKET,
    SocketState,
    admin_socket,
    candidates,
    find_socket,
    probe,
)
from aeond_client.errors import InvalidInputError, NoDaemonError, RefusedError
from aeond_client.socket_address import SocketSource
from tests.support.outsiders import OTHER_UID


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen(1)
        yield listener


@contextmanager
def not_root() -> Iterator[None]:
    """Without root's right to use every socket, where the tests have it."""
    ours = os.geteuid()
    if ours == 0:
        os.seteuid(OTHER_UID)
    try:
        yield
    finally:
        os.seteuid(ours)


def test_an_explicit_socket_is_the_only_one() -> None:
    """An explicitly given socket is the only candidate."""
    (address,) = candidates("/there.sock", {"AEOND_SOCKET": "/other.sock"})
    assert (address.path, address.source) == ("/there.sock", SocketSource.OPTION)


def test_the_environment_comes_before_the_usual_places() -> None:
    """AEOND_SOCKET is the only one tried where nothing is named explicitly."""
    (address,) = candidates("", {"AEOND_SOCKET": "unix:///there.sock", "XDG_RUNTIME_DIR": "/run/user/7"})
    assert (address.path, address.source) == ("/there.sock", SocketSource.ENVIRONMENT)


def test_the_usual_places_are_the_users_and_the_systems(tmp_path: Path) -> None:
    """Without a name the user's own socket comes first, then the machine's."""
    found = [(address.path, address.source) for address in candidates("", {"XDG_RUNTIME_DIR": str(tmp_path)})]
    assert found == [
        (str(tmp_path / "aeond" / "aeond.sock"), SocketSource.USER),
        (SYSTEM_SOCKET, SocketSource.SYSTEM),
    ]


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"HOME": "/home/a"}, "/home/a/.local/state/aeond/run/aeond.sock"),
        ({"HOME": "/home/a", "XDG_STATE_HOME": "/srv/a"}, "/srv/a/aeond/run/aeond.sock"),
        ({"HOME": "/home/a", "XDG_STATE_HOME": "not/absolute"}, "/home/a/.local/state/aeond/run/aeond.sock"),
    ],
)
def test_without_a_session_the_users_socket_is_in_the_state_folder(
    environment: dict[str, str], path: str, tmp_path: Path
) -> None:
    """On a machine without a runtime folder for the user, the daemon and its clients use the state folder."""
    gone = str(tmp_path / "gone")
    assert candidates("", {**environment, "XDG_RUNTIME_DIR": gone})[0].path == path


@pytest.mark.parametrize("name", ["unix:/a.sock", "unix:///a.sock", "/a.sock"])
def test_a_socket_may_be_named_as_grpc_names_it(name: str) -> None:
    """The forms that gRPC takes for a Unix socket mean the same path here."""
    assert candidates(name, {})[0].target == "unix:/a.sock"


def test_a_relative_or_home_path_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A path is understood as a shell would, from the current folder and from the home folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert candidates("a.sock", {})[0].path == str(tmp_path / "a.sock")
    assert candidates("~/a.sock", {})[0].path == str(tmp_path / "home" / "a.sock")


@pytest.mark.parametrize("name", ["/" + "x" * 107, "unix:", "/a\0b", "~no-such-user/a.sock"])
def test_a_path_that_no_socket_can_have_is_refused(name: str) -> None:
    """A path that is too long, or refers to the home of an unknown user, is rejected with reason and
    field.
    """
    with pytest.raises(InvalidInputError) as caught:
        candidates(name, {})
    assert (caught.value.reason, caught.value.field) == ("SOCKET_PATH_UNUSABLE", "socket")


def test_probing_tells_what_is_there(tmp_path: Path) -> None:
    """A listener, a stale socket, a plain file, nothing, and a file in place of a folder differ."""
    path = tmp_path / "a.sock"
    assert probe(str(path)) is SocketState.ABSENT
    with listening(path):
        assert probe(str(path)) is SocketState.LISTENING
    assert probe(str(path)) is SocketState.SILENT
    plain = tmp_path / "file"
    plain.touch()
    assert probe(str(plain)) is SocketState.SILENT
    assert probe(str(plain / "a.sock")) is SocketState.ABSENT


def test_a_busy_listener_counts_as_one(tmp_path: Path) -> None:
    """A daemon whose queue is full counts as listening, and probing it does not wait."""
    path = tmp_path / "a.sock"
    waiting = []
    with listening(path):
        for _ in range(8):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            waiting.append(connection)
            try:
                connection.connect(str(path))
            except BlockingIOError:
                break
        assert probe(str(path)) is SocketState.LISTENING
        for connection in waiting:
            connection.close()


def test_the_first_that_listens_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stale socket of the user's does not hide a daemon: the next place is looked at."""
    system = tmp_path / "system.sock"
    monkeypatch.setattr("aeond_client.connection.sockets.SYSTEM_SOCKET", str(system))
    user = tmp_path / "aeond" / "aeond.sock"
    with listening(user):
        assert find_socket("", {"XDG_RUNTIME_DIR": str(tmp_path)}).source is SocketSource.USER
    with pytest.raises(NoDaemonError) as caught:
        find_socket("", {"XDG_RUNTIME_DIR": str(tmp_path)})
    assert "no daemon is listening" in caught.value.message
    assert [address.source for address in caught.value.tried] == [SocketSource.USER, SocketSource.SYSTEM]
    with listening(system):
        found = find_socket("", {"XDG_RUNTIME_DIR": str(tmp_path)})
    assert (found.path, found.source) == (str(system), SocketSource.SYSTEM)


def test_a_socket_of_others_is_a_refusal(tmp_path: Path) -> None:
    """An inaccessible socket is distinguished from a missing one."""
    path = tmp_path / "a.sock"
    with listening(path):
        path.chmod(0)
        with not_root(), pytest.raises(RefusedError) as caught:
            find_socket(path)
    assert caught.value.reason == "SOCKET_DENIED"


@pytest.mark.parametrize(
    ("path", "admin"),
    [("/run/aeond/aeond.sock", "/run/aeond/aeond-admin.sock"), ("/tmp/x", "/tmp/x-admin")],
)
def test_the_administrative_socket_is_beside_the_socket(path: str, admin: str) -> None:
    """The name of the socket gets -admin before its suffix, as with the daemon's default."""
    assert admin_socket(path) == admin
