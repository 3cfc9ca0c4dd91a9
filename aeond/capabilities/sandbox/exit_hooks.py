"""Cleanup of a tool whose process has to exit before the tool is done: registered in the tool's code, run by the runner."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

EXIT_SECONDS: Final = 3.0  # for all hooks; then the sandbox kills the process

_hooks: list[Callable[[], None]] = []


@contextmanager
def before_exit(hook: Callable[[], None]) -> Iterator[None]:
    """While the context is open, a cancelled call runs the hook, in another thread, before its process exits."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


def run_exit_hooks() -> None:
    """Blocking. Runs the hooks of the contexts that are open."""
    for hook in tuple(_hooks):
        hook()
