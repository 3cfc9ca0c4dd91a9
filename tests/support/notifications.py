"""Records the notifications to a service manager."""

from dataclasses import dataclass, field

from aeond.daemon.notify import Notifier


@dataclass
class Notifications(Notifier):
    """Keeps what would be sent."""

    listens: bool = True
    watchdog_seconds: float = 3.0
    sent: list[str] = field(default_factory=list)

    def ready(self) -> None:
        self.sent.append("ready")

    def reloading(self, monotonic_seconds: float) -> None:
        self.sent.append(f"reloading since {monotonic_seconds:g}")

    def extend(self, seconds: float) -> None:
        self.sent.append(f"{seconds:g} s more")

    def say(self, text: str, **fields: str) -> None:
        self.sent.append(text)

    def alive(self) -> None:
        self.sent.append("alive")

    def stopping(self) -> None:
        self.sent.append("stopping")

    def close(self) -> None:
        self.sent.append("closed")
