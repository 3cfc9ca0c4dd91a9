"""The state of a run from the journal alone."""

from collections.abc import Sequence

import pytest

from aeond.domain.runs.events import Event
from aeond.errors import NotFoundError, ReplayError, StoreError
from aeond.service.folding import RunFolding
from aeond.state_machine.fold import fold
from tests.support.in_memory_journal import InMemoryJournal
from tests.support.journals import beginning


class Failing(InMemoryJournal):
    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    async def read(self, run_id: str, after_seq: int = 0, limit: int = 256) -> Sequence[Event]:
        raise StoreError("the journal is damaged", reason=self.reason)


async def test_a_run_is_folded_from_its_events() -> None:
    """The snapshot has the number of the last event; a run without events does not exist."""
    journal = InMemoryJournal()
    await journal.append(beginning("r"))
    assert (await RunFolding(journal, fold).snapshot("r")).seq == 2
    with pytest.raises(NotFoundError):
        await RunFolding(journal, fold).snapshot("other")


async def test_damage_is_that_of_one_run() -> None:
    """A damaged page concerns the run that is on it, and so is no failure of the journal as a whole."""
    with pytest.raises(ReplayError, match="damaged") as refused:
        await RunFolding(Failing("JOURNAL_CORRUPT"), fold).snapshot("r")
    assert refused.value.reason == "JOURNAL_CORRUPT"
    with pytest.raises(StoreError):
        await RunFolding(Failing("JOURNAL_FAILED"), fold).snapshot("r")
