"""Short formats for timestamps."""

import time
from datetime import UTC, datetime


def when(moment: float) -> str:
    """A Unix time as local date and time to the second; "" for none."""
    if not moment:
        return ""
    return datetime.fromtimestamp(moment, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def how_long_ago(moment: float, now: float | None = None) -> str:
    """A Unix time as its age: 12s, 5m, 3h, 8d."""
    seconds = max((time.time() if now is None else now) - moment, 0.0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return f"{int(seconds)}s ago"
