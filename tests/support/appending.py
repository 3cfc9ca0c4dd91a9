"""A program that appends to a journal as fast as it can and prints what is acknowledged, until it is killed.

python -m tests.support.appending PATH PREFIX PRODUCERS
"""

import os
import sys
from pathlib import Path

import anyio

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from tests.support.journals import RESERVE_BYTES, beginning, step_turn


async def append_for_ever(path: Path, prefix: str, producers: int) -> None:
    async with (
        SqliteJournal(path, reserve_bytes=RESERVE_BYTES) as journal,
        anyio.create_task_group() as group,
    ):

        async def produce(run_id: str) -> None:
            events, seq = beginning(run_id), 1
            while True:
                await journal.append(events)
                seq += len(events)
                os.write(sys.stdout.fileno(), f"{run_id} {seq - 1}\n".encode())
                events = step_turn(run_id, seq, "x" * 300)

        for number in range(producers):
            group.start_soon(produce, f"{prefix}-{number}")


if __name__ == "__main__":
    anyio.run(append_for_ever, Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
