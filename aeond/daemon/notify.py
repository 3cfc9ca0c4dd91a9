"""Notifications to systemd: one method for each."""

import os
import socket
from typing import Protocol

from aeond.daemon.logs.printable import printable

PATIENCE_SECONDS = 2.0


class Channel(Protocol):
    """The library's interface: a connected socket, or None on failure."""

    socket: socket.socket | None

    def notify(self, state: str) -> None: ...


class Notifier:
    """Reports the daemon's lifecycle to the service manager, by sd_notify over a channel; None: there is no service manager,
    and nothing is sent. `watchdog_seconds` is the manager's watchdog timeout, 0 without a watchdog.

    A service manager that does not read must not block the daemon: messages that do not fit are dropped,
    except READY and STOPPING, which are sent once and wait briefly.
    """

    def __init__(self, channel: Channel | None = None, watchdog_seconds: float = 0.0) -> None:
        self._channel = channel
        self.listens = channel is not None
        self.watchdog_seconds = watchdog_seconds
        self._last = ""

    def ready(self) -> None:
        self._send("READY=1", PATIENCE_SECONDS)

    def reloading(self, monotonic_seconds: float) -> None:
        """A configuration reload started at this time; `ready` ends it."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={int(monotonic_seconds * 1e6)}")

    def extend(self, seconds: float) -> None:
        """A start or stop takes up to this much longer, unless extended again."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1e6)}")

    def say(self, text: str, **fields: str) -> None:
        """One line for people; fields are for programs, each sent under its name after `X_AEOND_`."""
        lines = [f"STATUS={text}", *(f"X_AEOND_{name.upper()}={value}" for name, value in fields.items())]
        message = "\n".join(printable(line.replace("\n", " ")) for line in lines)
        if message != self._last:
            self._last = message
            self._send(message)

    def alive(self) -> None:
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        self._send("STOPPING=1", PATIENCE_SECONDS)

    def close(self) -> None:
        if self._channel is not None and self._channel.socket is not None:
            self._channel.socket.close()

    def _send(self, message: str, patience_seconds: float = 0.0) -> None:
        if self._channel is None:
            return
        if self._channel.socket is not None:
            self._channel.socket.settimeout(patience_seconds)
        # The library encodes as Latin-1, systemd reads UTF-8: pass the UTF-8 bytes as Latin-1 text.
        self._channel.notify(message.encode("utf-8", "replace").decode("latin-1"))


def notifier_from_environment() -> Notifier:
    """Removes the service manager's variables from the environment, because child processes must not send
    notifications for the daemon.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    microseconds = os.environ.pop("WATCHDOG_USEC", "")
    watched = os.environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    seconds = int(microseconds) / 1e6 if microseconds.isdecimal() and watched else 0.0
    if not address:
        return Notifier()
    import sdnotify

    channel = sdnotify.SystemdNotifier()  # connects to NOTIFY_SOCKET, once
    del os.environ["NOTIFY_SOCKET"]
    return Notifier(channel, seconds)
