"""Events as JSON lines, written and read back: golden journals, and what `aeond export` printed."""

import json
from collections.abc import Iterable, Iterator

from aeond.capabilities.journal.encoding import StoredEvent, decode, encode
from aeond.capabilities.journal.transcripts import line_of
from aeond.domain.runs.events import Event


def write_lines(events: Iterable[Event]) -> Iterator[str]:
    """Each event as a line, without line end."""
    return map(line_of, map(encode, events))


def read_lines(lines: Iterable[str]) -> Iterator[Event]:
    """The events of these lines, brought up to date as the journal does; empty lines are skipped."""
    for line in lines:
        if line.strip():
            content = json.loads(line)
            yield decode(StoredEvent(**content | {"body": json.dumps(content["body"], ensure_ascii=False)}))
