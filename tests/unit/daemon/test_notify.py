"""Notifications to systemd."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aeond.daemon.notify import notifier_from_environment


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A socket that listens as systemd does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield receiver


def test_the_manager_is_notified_of_each_step(manager: socket.socket) -> None:
    """READY, a line for people, signs of life and STOPPING reach the manager."""
    with closing(notifier_from_environment()) as notifier:
        notifier.ready()
        notifier.say("loading the model … 40%", engine="starting")
        notifier.alive()
        notifier.stopping()
    assert [manager.recv(1000).decode() for _ in range(4)] == [
        "READY=1",
        "STATUS=loading the model … 40%\nX_AEOND_ENGINE=starting",
        "WATCHDOG=1",
        "STOPPING=1",
    ]


def test_the_manager_is_notified_of_reloads_and_of_time(manager: socket.socket) -> None:
    """A reload is reported with its time, and more time is requested in microseconds."""
    with closing(notifier_from_environment()) as notifier:
        notifier.reloading(12.5)
        notifier.extend(30)
    assert [manager.recv(1000).decode() for _ in range(2)] == [
        "RELOADING=1\nMONOTONIC_USEC=12500000",
        "EXTEND_TIMEOUT_USEC=30000000",
    ]


def test_the_same_line_is_said_once(manager: socket.socket) -> None:
    """An unchanged status is not sent again."""
    with closing(notifier_from_environment()) as notifier:
        for text in ("one", "one", "two"):
            notifier.say(text)
    assert [manager.recv(1000) for _ in range(2)] == [b"STATUS=one", b"STATUS=two"]


def test_a_line_stays_one_line(manager: socket.socket) -> None:
    """Text with line breaks cannot smuggle in another notification."""
    with closing(notifier_from_environment()) as notifier:
        notifier.say("error\nREADY=1")
    assert manager.recv(1000) == b"STATUS=error READY=1"


@pytest.mark.usefixtures("manager")
def test_children_cannot_speak_for_the_daemon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The service manager's variables are removed from the environment once they are read."""
    monkeypatch.setenv("WATCHDOG_USEC", "3000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    with closing(notifier_from_environment()) as notifier:
        assert notifier.watchdog_seconds == 3.0
    assert {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}.isdisjoint(os.environ)


@pytest.mark.usefixtures("manager")
@pytest.mark.parametrize(("microseconds", "pid"), [("", ""), ("abc", ""), ("3000000", "1")])
def test_a_watchdog_that_is_not_ours_is_ignored(
    monkeypatch: pytest.MonkeyPatch, microseconds: str, pid: str
) -> None:
    """A watchdog for another process, or one that makes no sense, is none."""
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    monkeypatch.setenv("WATCHDOG_PID", pid or str(os.getpid()))
    with closing(notifier_from_environment()) as notifier:
        assert notifier.watchdog_seconds == 0.0


def test_without_a_manager_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a service manager nothing is sent."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    with closing(notifier_from_environment()) as notifier:
        assert not notifier.listens
        assert notifier.watchdog_seconds == 0.0
        for say in (notifier.ready, notifier.alive, notifier.stopping):
            say()
        notifier.say("ready")
        notifier.extend(1.0)
        notifier.reloading(1.0)


def test_a_manager_that_does_not_read_blocks_nothing(manager: socket.socket) -> None:
    """Messages that do not fit are dropped, and later ones arrive once the service manager reads again."""
    with closing(notifier_from_environment()) as notifier:
        for number in range(2_000):
            notifier.say(f"line {number}")
            notifier.alive()
        manager.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                manager.recv(1000)
        notifier.stopping()
        assert manager.recv(1000) == b"STOPPING=1"
