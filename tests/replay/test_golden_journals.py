"""Journals of released versions, folded for ever."""

from typing import get_args

import pytest

from aeond.capabilities.journal.transcripts import read_lines
from aeond.domain.events import EventKind
from aeond.domain.runs import RunState
from tests.support.golden import GoldenJournal, golden_journals


@pytest.mark.parametrize("journal", golden_journals(), ids=lambda journal: journal.name)
def test_a_released_journal_comes_to_the_same(journal: GoldenJournal) -> None:
    """A run that a released version journaled folds to what it came to then."""
    assert journal.folded() == journal.outcome


def test_every_kind_of_event_and_every_end_is_kept() -> None:
    """The golden journals hold each kind of event, and runs that ended in each way there is."""
    journals = golden_journals()
    kinds = {type(event.kind) for journal in journals for event in read_lines(journal.lines)}
    assert kinds == set(get_args(EventKind))
    states = {journal.outcome["state"] for journal in journals if isinstance(journal.outcome, dict)}
    assert states >= {state for state in RunState if state.ended}
