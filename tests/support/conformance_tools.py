"""The tools of the conformance suite as the Python client serves them."""

import json
import sys
import threading
from contextlib import suppress

from aeond_client import CallContext, ServedTools, ToolFailure, tool

FLOOD_BYTES = 20 << 20

_lock = threading.Lock()
_held: list[threading.Event] = []


@tool(effect="read")
def suite_echo(text: str) -> dict[str, str]:
    """Returns a text."""
    return {"text": text}


@tool(effect="read")
def suite_refuse() -> None:
    """Fails with a reason."""
    raise ToolFailure("no such page", "PAGE_UNKNOWN")


@tool(effect="read")
def suite_break() -> None:
    """Raises an error."""
    raise ValueError("broken")


@tool(effect="read")
def suite_flood() -> str:
    """Returns more than the daemon accepts."""
    return "x" * FLOOD_BYTES


def suite_hold(context: CallContext) -> dict[str, str]:
    """Waits for the word release."""
    released = threading.Event()
    with _lock:
        _held.append(released)
        _print({"began": context.call_id, "running": len(_held)})
    context.on_cancel(released.set)
    released.wait()
    with _lock:
        _held.remove(released)
        if context.cancelled.is_set():
            _print({"cancelled": context.call_id})
    return {"held": context.call_id}


def serve(limit_seconds: float = 0.0) -> None:
    """Serves until SIGINT. A call of suite_hold has this time limit, without one that of the daemon."""
    hold = tool(effect="write_outside", timeout_seconds=limit_seconds)(suite_hold)
    tools = [suite_echo, suite_refuse, suite_break, suite_flood, hold]
    with suppress(KeyboardInterrupt), ServedTools(tools, source="suite", max_calls=2) as served:
        _print({"serving": [tool.spec.name for tool in tools]})
        threading.Thread(target=_release, daemon=True).start()
        served.wait()


def _release() -> None:
    for _ in sys.stdin:
        with _lock:
            for released in _held:
                released.set()


def _print(record: object) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()
