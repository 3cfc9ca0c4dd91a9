"""A run's events as lines of JSON: to look at, to send with a bug report, to keep as a golden journal.

    {"run_id": ..., "seq": 1, "time": ..., "elapsed_seconds": ..., "kind": "run_created", "version": 1, "body": {...}}

One event a line, in order; what is written by one version is read by every later one.
"""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

from aeond.capabilities.journal.encoding import UPCASTS, StoredEvent, Upcast, decode, encode
from aeond.domain.events import Event
from aeond.errors import InvalidInputError
from aeond.ports import Journal

# An import appends so many events at once.
_BATCH = 256

ReadPage = Callable[[int], Awaitable[Sequence[StoredEvent]]]  # the events of a run after that number, not all


def write_lines(events: Iterable[Event]) -> Iterator[str]:
    """Each event as a line, without its line end."""
    return map(line_of, map(encode, events))


def line_of(stored: StoredEvent) -> str:
    """A row as a line, whether this version can read it or not; a body that is not JSON stands as a text."""
    body: object = stored.body
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(stored.body)
    return json.dumps(stored._asdict() | {"body": body}, ensure_ascii=False, separators=(",", ":"))


def read_lines(lines: Iterable[str], upcasts: Mapping[int, Upcast] = UPCASTS) -> Iterator[Event]:
    """The events of such lines; empty lines are passed over.

    InvalidInputError (reason TRANSCRIPT_INVALID) when a line is none, ReplayError when it is of a kind or
    version that this program does not know.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield decode(_stored(number, line), upcasts)


async def export_stored(read_page: ReadPage) -> AsyncIterator[str]:
    """The lines of a run as it lies there, also where this version cannot read it."""
    seq = 0
    while page := await read_page(seq):
        for stored in page:
            yield line_of(stored)
        seq = page[-1].seq


async def import_run(journal: Journal, lines: Iterable[str]) -> int:
    """Appends the events of the lines, and returns how many there were. Errors as for `append`."""
    batch: list[Event] = []
    count = 0
    for event in read_lines(lines):
        batch.append(event)
        count += 1
        if len(batch) == _BATCH:
            await journal.append(batch)
            batch = []
    if batch:
        await journal.append(batch)
    return count


def _stored(number: int, line: str) -> StoredEvent:
    try:
        content = json.loads(line)
        return StoredEvent(
            run_id=str(content["run_id"]),
            seq=int(content["seq"]),
            time=float(content["time"]),
            elapsed_seconds=float(content["elapsed_seconds"]),
            kind=str(content["kind"]),
            version=int(content["version"]),
            body=json.dumps(content["body"], ensure_ascii=False),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"line {number} is no event of a transcript: {error}", reason="TRANSCRIPT_INVALID"
        ) from error
