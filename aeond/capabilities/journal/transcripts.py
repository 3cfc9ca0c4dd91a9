"""A run's events as JSON lines: to read, to attach to a bug report, or to keep as a regression test.

    {"run_id": ..., "seq": 1, "time": ..., "elapsed_seconds": ..., "kind": "run_created", "version": 1, "body": {...}}

One event per line, in order. Every later version can read the output of an earlier one.
"""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from aeond.capabilities.journal.encoding import StoredEvent

ReadPage = Callable[[int], Awaitable[Sequence[StoredEvent]]]  # the events of a run after that number


def line_of(stored: StoredEvent) -> str:
    """A row as a line, whether this version can read it or not; a body that is not JSON becomes a string."""
    body: object = stored.body
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(stored.body)
    return json.dumps(stored._asdict() | {"body": body}, ensure_ascii=False, separators=(",", ":"))


async def export_stored(read_page: ReadPage) -> AsyncIterator[str]:
    """The lines of a run as stored, even if this version cannot read it."""
    seq = 0
    while page := await read_page(seq):
        for stored in page:
            yield line_of(stored)
        seq = page[-1].seq
