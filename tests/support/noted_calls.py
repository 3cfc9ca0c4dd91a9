"""An object that notes each call of its methods and does nothing: the user's choices in the popup, or a daemon without replies."""

from typing import Any


class NotedCalls:
    """Has every method."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **more: self.calls.append((name, *given, *more.items()))

    def of(self, name: str) -> list[tuple[Any, ...]]:
        """What each call of this method was given."""
        return [call[1:] for call in self.calls if call[0] == name]
