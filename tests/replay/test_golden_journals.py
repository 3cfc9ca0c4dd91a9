"""Journals of released versions, folded for ever."""

from typing import get_args

import pytest

from aeond.domain.runs.events import EventKind
from aeond.domain.runs.run import RunState
from tests.support.golden import GoldenJournal, golden_journals
from tests.support.journal_states import unlisted_changes
from tests.support.transcripts import read_lines


@pytest.mark.parametrize("journal", golden_journals(), ids=lambda journal: journal.name)
def test_a_released_journal_comes_to_the_same(journal: GoldenJournal) -> None:
    """A run that a released version journaled folds to what it came to then."""
    assert journal.folded() == journal.outcome


@pytest.mark.parametrize("journal", golden_journals(), ids=lambda journal: journal.name)
def test_released_journals_obey_the_tables(journal: GoldenJournal) -> None:
    """The transition tables list every change of state in the journals of released versions."""
    assert unlisted_changes(read_lines(journal.lines)) == []


def test_every_kind_of_event_and_every_end_is_kept() -> None:
    """The golden journals hold each kind of event, and runs that ended in each way there is."""
    journals = golden_journals()
    kinds = {type(event.kind) for journal in journals for event in read_lines(journal.lines)}
    assert kinds == set(get_args(EventKind))
    states = {journal.outcome["state"] for journal in journals if isinstance(journal.outcome, dict)}
    assert states >= {state for state in RunState if state.ended}
