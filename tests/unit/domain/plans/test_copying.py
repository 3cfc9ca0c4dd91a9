"""New values from old ones."""

from dataclasses import dataclass, field

import pytest

from aeond.domain.plans.copying import replace
from aeond.domain.plans.plan import PlanStep
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot, RunState


@dataclass(frozen=True)
class Pair:
    left: int
    right: list[int] = field(default_factory=list)


def test_a_copy_differs_in_what_was_changed_and_nothing_else() -> None:
    """The copy has the new fields and shares all others; the old value stays as it was."""
    old = Pair(1, [2])
    new = replace(old, left=3)
    assert (new, old) == (Pair(3, [2]), Pair(1, [2]))
    assert new.right is old.right
    assert type(new) is Pair


def test_a_field_that_is_not_there_is_refused() -> None:
    """A misspelt field is an error and not a new one."""
    with pytest.raises(TypeError, match="Pair has no up"):
        replace(Pair(1), up=2)  # type: ignore[call-arg]  # the mistake under test


def test_snapshots_and_steps_can_be_copied() -> None:
    """Snapshots of runs and steps, and planned steps, are copied whole."""
    step = PlanStep("s1", "do it")
    assert replace(RunSnapshot("run"), state=RunState.RUNNING) == RunSnapshot("run", state=RunState.RUNNING)
    assert replace(StepSnapshot(step), attempt=2) == StepSnapshot(step, attempt=2)
    assert replace(step, errors=("no",)) == PlanStep("s1", "do it", errors=("no",))
