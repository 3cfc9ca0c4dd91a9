"""Daemon outages: the message shown and how long a call is retried."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from aeon_cli.text.titles import duration_in_words
from aeond_client.connection.failures import may_follow_on
from aeond_client.errors import AeondError
from aeond_client.watching.following import Follower

if TYPE_CHECKING:
    from aeond_client.watching.following import Outage, OutageListener

T = TypeVar("T")

BACK = "The daemon is back."


def in_words(outage: "Outage") -> tuple[str, str]:
    """The problem, and how much longer the client waits."""
    left = f" (at most {duration_in_words(max(outage.patience_seconds - outage.waited_seconds, 0.0))})"
    if outage.error.reason == "DRAINING":
        return "The daemon is stopping; waiting for the next one to start", left
    return "The daemon went away; waiting for it to come back", left


def outlasting(call: Callable[[], T], run_id: str, patience_seconds: float, on_outage: "OutageListener") -> T:
    """Repeats a call about a run while the daemon is unavailable, as a watch reconnects. Raises the last
    error when `patience_seconds` have passed.
    """
    place = Follower(run_id, after_seq=0, patience_seconds=patience_seconds, on_outage=on_outage)
    while True:
        try:
            returned = call()
        except AeondError as error:
            if not may_follow_on(error):
                raise
            time.sleep(place.lost(error))
        else:
            place.attached()
            return returned
