"""A daemon that is away: what a person is told of it, and how long a call waits for it."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from aeon_cli.titles import duration_in_words
from aeond_client.errors import AeondError
from aeond_client.failures import may_follow_on
from aeond_client.following import Follower

if TYPE_CHECKING:
    from aeond_client.following import Outage, OutageListener

T = TypeVar("T")

BACK = "The daemon is back."


def in_words(outage: "Outage") -> tuple[str, str]:
    """What is the matter, and how long it is waited for."""
    left = f" (at most {duration_in_words(max(outage.patience_seconds - outage.waited_seconds, 0.0))})"
    if outage.error.reason == "DRAINING":
        return "The daemon is stopping; waiting for its successor", left
    return "The daemon went away; waiting for it to come back", left


def outlasting(call: Callable[[], T], run_id: str, patience_seconds: float, on_outage: "OutageListener") -> T:
    """What the call about a run returns, made again while the daemon is away, as a watch attaches again: raises
    the error that it met when the patience is spent."""
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
