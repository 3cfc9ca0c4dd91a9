"""Records the notifications to a service manager."""

from aeond.daemon.notify import Notifier


class Notifications(Notifier):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        super().__init__(watchdog_seconds=3.0)
        self.listens = True
        self.sent: list[str] = []

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
