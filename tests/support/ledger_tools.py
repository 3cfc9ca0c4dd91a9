"""A tool file for the real daemon: one tool of each effect class, which records its actions.

Each call appends one line to the file in AEOND_LEDGER, in one write to a file opened with O_APPEND, when it
starts and when it has ended: `begin CALL_ID` and `end CALL_ID`. With `gate` it waits in between until a byte
is written to that FIFO.
"""

import os
from pathlib import Path
from threading import Event

from pydantic import BaseModel

from aeond.capabilities.tools.function_tool import FunctionTool, tool
from aeond.domain.tools import Effect, ToolContext

CLASSES = {
    "pure": (Effect.PURE, False),
    "look": (Effect.READ, False),
    "put": (Effect.WRITE_CONTAINED, True),
    "change": (Effect.WRITE_CONTAINED, False),
    "spill": (Effect.WRITE_OUTSIDE, False),
    "compute": (Effect.EXEC_CONTAINED, False),
    "run": (Effect.EXEC_HOST, False),
    "send": (Effect.NET, False),
}


class Deed(BaseModel):
    """The action, and its duration."""

    gate: str = ""
    seconds: float = 0.0


class Done(BaseModel):
    """The completed action, and its call id."""

    call_id: str


def _write(line: str) -> None:
    ledger = os.open(os.environ["AEOND_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(ledger, f"{line}\n".encode())
    finally:
        os.close(ledger)


def _lines() -> list[str]:
    ledger = Path(os.environ["AEOND_LEDGER"])
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


async def _look_back(_arguments: Deed, context: ToolContext) -> Done | None:
    """Whether the earlier call did its work."""
    return Done(call_id=context.call_id) if f"end {context.call_id}" in _lines() else None


def _wait_at(gate: Path) -> None:
    """Waits for a byte; an opened and closed gate without one does not count."""
    while True:
        with gate.open("rb", buffering=0) as fifo:
            if fifo.read(1):
                return


def _deed(name: str) -> FunctionTool:
    effect, idempotent = CLASSES[name]

    def do(arguments: Deed, context: ToolContext) -> Done:
        _write(f"begin {context.call_id}")
        if arguments.gate:
            _wait_at(Path(arguments.gate))
        Event().wait(arguments.seconds)
        _write(f"end {context.call_id}")
        return Done(call_id=context.call_id)

    do.__name__ = name
    do.__doc__ = f"Writes one line of the class {effect.value} to the ledger."
    return tool(
        effect=effect,
        idempotent=idempotent,
        blocking=True,
        reconcile=_look_back if idempotent else None,
        timeout_seconds=120,
    )(do)


TOOLS = [_deed(name) for name in CLASSES]
