from pathlib import Path

import anyio
import anyio.from_thread
import apsw

from aeond.capabilities.journal.projection import RunLine
from aeond.capabilities.journal.readers import read_runs
from aeond.capabilities.journal.schema import JOURNAL
from aeond.capabilities.sqlite_readers import Readers
from aeond.domain.runs.run import RunState
from aeond.ports.journal import ANY_RUN
from tests.support.journals import beginning, ending, journal_in


async def test_the_statements_of_a_query_see_the_same_events(tmp_path: Path) -> None:
    """A run that ends while a query reads is the same in each of its statements, and has ended in the next query."""
    async with journal_in(tmp_path) as journal:
        await journal.append(beginning("r"))
        readers = Readers(tmp_path / "journal.db", JOURNAL)

        def query(cursor: apsw.Cursor) -> list[RunLine]:
            before = read_runs(cursor, ANY_RUN)
            anyio.from_thread.run(journal.append, [ending("r", 3)])
            return [*before, *read_runs(cursor, ANY_RUN)]

        first, second = await readers.run(query)
        assert first == second
        (after,) = await readers.run(lambda cursor: read_runs(cursor, ANY_RUN))
        assert (first.summary.state, after.summary.state) == (RunState.RUNNING, RunState.SUCCEEDED)
        await readers.close()
