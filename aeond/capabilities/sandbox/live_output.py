"""Text that a tool shows while it works: `show` in the tool's code, delivered by the runner around it."""

from collections.abc import Callable


def _ignore(_text: str) -> None:
    """Outside a runner there is no one to deliver it to."""


_deliver: Callable[[str], None] = _ignore


def deliver_with(deliver: Callable[[str], None]) -> None:
    """Sets the function that delivers all text from now on."""
    global _deliver  # noqa: PLW0603 - one process performs one errand
    _deliver = deliver


def show(text: str) -> None:
    """Shows the text to the people who watch the call; nothing if there are none."""
    _deliver(text)
