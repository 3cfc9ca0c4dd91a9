"""Limits that all supervised engines share: concurrent requests, and when an engine counts as dead."""

from aeond.frozen import frozen


@frozen
class Supervision:
    """How many may ask, and when an engine counts as dead.

    `context_length` is tokens per request. After `max_deaths` within `death_window_seconds` the engine stays
    down for `rest_seconds`, then the next request tries again; `load` tries at once.
    """

    context_length: int = 8192
    max_requests: int = 64
    load_seconds: float = 180.0
    stall_seconds: float = 60.0
    max_deaths: int = 5
    death_window_seconds: float = 300.0
    rest_seconds: float = 60.0
    first_backoff_seconds: float = 0.2
    longest_backoff_seconds: float = 10.0
