"""What each task of the daemon waits for: for an operator whose daemon seems to hang."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

MAX_FRAMES: Final = 40  # of one task

# Of what is suspended: where it is, and what it waits for, by the attributes of coroutines, generators and asynchronous ones.
_FRAMES: Final = ("cr_frame", "gi_frame", "ag_frame")
_AWAITED: Final = ("cr_await", "gi_yieldfrom", "ag_await")


def waiting_tasks(tasks: Iterable["asyncio.Task[object]"]) -> list[str]:
    """A line for each unfinished task: its name, then the places where it is suspended, outermost first."""
    return sorted(
        f"{task.get_name()}: {' > '.join(_places(task.get_coro())) or 'running'}"
        for task in tasks
        if not task.done()
    )


def _places(suspended: Any) -> list[str]:
    places: list[str] = []
    while suspended is not None and len(places) < MAX_FRAMES:
        frame: FrameType | None = _first(suspended, _FRAMES)
        if frame is not None:
            places.append(_place(frame.f_code, frame.f_lineno))
        suspended = _first(suspended, _AWAITED)
    return places


def _first(suspended: Any, names: Iterable[str]) -> Any:
    return next((found for name in names if (found := getattr(suspended, name, None)) is not None), None)


def _place(code: CodeType, line: int) -> str:
    return f"{code.co_qualname} {Path(code.co_filename).name}:{line}"
