"""What systemd is told: one method per notification."""

import os
import socket
from typing import Protocol

from aeond.frozen import frozen

PATIENCE_SECONDS = 2.0


class Notifier(Protocol):
    """Tells the service manager where the daemon is in its life."""

    @property
    def listens(self) -> bool:
        """Whether anybody is told at all."""
        ...

    @property
    def watchdog_seconds(self) -> float:
        """How long the manager waits for a sign of life before it acts; 0 when it does not watch."""
        ...

    def ready(self) -> None: ...

    def reloading(self, monotonic_seconds: float) -> None:
        """The configuration is being read again, since this moment; `ready` says that this is over."""
        ...

    def extend(self, seconds: float) -> None:
        """A start or a stop goes on for so long yet, unless it is extended again."""
        ...

    def say(self, text: str, **fields: str) -> None:
        """One line for people; fields are for programs, each sent under its name after `X_AEOND_`."""
        ...

    def alive(self) -> None: ...

    def stopping(self) -> None: ...

    def close(self) -> None: ...


@frozen
class Silence:
    """Nobody listens."""

    listens: bool = False
    watchdog_seconds: float = 0.0

    def ready(self) -> None: ...

    def reloading(self, monotonic_seconds: float) -> None: ...

    def extend(self, seconds: float) -> None: ...

    def say(self, text: str, **fields: str) -> None: ...

    def alive(self) -> None: ...

    def stopping(self) -> None: ...

    def close(self) -> None: ...


class Channel(Protocol):
    """What the library gives: a connected socket, or None where that failed."""

    socket: socket.socket | None

    def notify(self, state: str) -> None: ...


class SystemdNotifier:
    """Speaks sd_notify over a channel.

    A manager that does not read must not hold up the daemon: what it has no room for is dropped, but for
    READY and STOPPING, which are said once and wait a moment.
    """

    def __init__(self, channel: Channel, watchdog_seconds: float) -> None:
        self._channel = channel
        self._watchdog_seconds = watchdog_seconds
        self._last = ""

    @property
    def listens(self) -> bool:
        return True

    @property
    def watchdog_seconds(self) -> float:
        return self._watchdog_seconds

    def ready(self) -> None:
        self._send("READY=1", PATIENCE_SECONDS)

    def reloading(self, monotonic_seconds: float) -> None:
        self._send(f"RELOADING=1\nMONOTONIC_USEC={int(monotonic_seconds * 1e6)}")

    def extend(self, seconds: float) -> None:
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * 1e6)}")

    def say(self, text: str, **fields: str) -> None:
        lines = [f"STATUS={text}", *(f"X_AEOND_{name.upper()}={value}" for name, value in fields.items())]
        message = "\n".join(line.replace("\n", " ") for line in lines)
        if message != self._last:
            self._last = message
            self._send(message)

    def alive(self) -> None:
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        self._send("STOPPING=1", PATIENCE_SECONDS)

    def close(self) -> None:
        if self._channel.socket is not None:
            self._channel.socket.close()

    def _send(self, message: str, patience_seconds: float = 0.0) -> None:
        if self._channel.socket is not None:
            self._channel.socket.settimeout(patience_seconds)
        # The library writes Latin-1, systemd reads UTF-8: hand it the bytes of the one as the other.
        self._channel.notify(message.encode("utf-8", "replace").decode("latin-1"))


def notifier_from_environment() -> Notifier:
    """Takes what the service manager put into the environment out of it: children must not speak for
    the daemon."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    microseconds = os.environ.pop("WATCHDOG_USEC", "")
    watched = os.environ.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    seconds = int(microseconds) / 1e6 if microseconds.isdecimal() and watched else 0.0
    if not address:
        return Silence()
    import sdnotify

    channel = sdnotify.SystemdNotifier()  # connects to what NOTIFY_SOCKET names, now and once
    del os.environ["NOTIFY_SOCKET"]
    return SystemdNotifier(channel, seconds)
