"""Folding of whole journals."""

from collections.abc import Iterable
from functools import reduce

from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunSnapshot
from aeond.state_machine.fold import fold


def fold_all(run: RunSnapshot, events: Iterable[Event]) -> RunSnapshot:
    """The snapshot after all of these events."""
    return reduce(fold, events, run)
