"""The conditions for which an inactive run waits."""

from dataclasses import replace

import pytest

from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import RunSnapshot, RunState, SuspendReason
from aeond.service.recovery.waiting import IdleRuns, needs_a_person, started_runs, waits_for_runs, was_cut

ASKING = StepSnapshot(
    PlanStep("a", "ask"), StepState.RUNNING, question=Question("a.1", "a", InputRequest("?"), 0.0)
)
WORKING = StepSnapshot(PlanStep("b", "work"), StepState.RUNNING)
READY = StepSnapshot(PlanStep("c", "work"), StepState.READY)
STARTING = StepSnapshot(
    PlanStep("d", "start"), StepState.RUNNING, child=ChildRun("child", "any", Budget(), SubtaskRequest("x"))
)


def run(*steps: StepSnapshot, state: RunState = RunState.RUNNING) -> RunSnapshot:
    return RunSnapshot("run", state=state, steps={step.step_id: step for step in steps})


@pytest.mark.parametrize(
    ("snapshot", "needs"),
    [
        (run(ASKING, state=RunState.AWAITING_INPUT), True),
        (run(ASKING, WORKING, state=RunState.AWAITING_INPUT), False),
        (run(ASKING, READY, state=RunState.AWAITING_INPUT), False),
        (replace(run(state=RunState.SUSPENDED), suspend_reason=SuspendReason.UNKNOWN_STEP), True),
        (replace(run(state=RunState.SUSPENDED), suspend_reason=SuspendReason.DISK_FULL), False),
        (run(WORKING), False),
        (replace(run(ASKING, state=RunState.AWAITING_INPUT), cancel_requested=True), False),
    ],
)
def test_a_run_needs_a_person_when_nothing_else_is_left(snapshot: RunSnapshot, needs: bool) -> None:
    """An open question alone holds a run up only when no step works or could begin."""
    assert needs_a_person(snapshot) is needs


def test_work_in_flight_is_cut_at_a_restart() -> None:
    """A working step, an operation, or a run put aside; a step that waits for a person is not in flight."""
    assert was_cut(run(WORKING))
    assert was_cut(replace(run(), operation=Amounts()))
    assert was_cut(replace(run(ASKING), parked=True))
    assert not was_cut(run(ASKING, READY))


def test_a_run_only_waits_for_runs_when_all_of_them_are_idle() -> None:
    """A step that works, an operation or a child that goes on keeps its run at work."""
    idle = {"child"}.__contains__
    assert waits_for_runs(run(STARTING, ASKING, READY), idle)
    assert not waits_for_runs(run(STARTING), set().__contains__)
    assert not waits_for_runs(run(STARTING, WORKING), idle)
    assert not waits_for_runs(replace(run(STARTING), operation=Amounts()), idle)
    assert not waits_for_runs(run(ASKING, READY), idle)
    assert not waits_for_runs(replace(run(STARTING), cancel_requested=True), idle)
    assert not waits_for_runs(replace(run(STARTING), exhausted="wall_seconds"), idle)
    assert not waits_for_runs(run(STARTING, state=RunState.CANCELLED), idle)
    assert started_runs(run(STARTING, WORKING)) == ["child"]


def test_idle_runs_wait_or_rest_until_they_are_roused() -> None:
    """Only those that wait themselves are counted; rousing tells whether a run rested."""
    runs = IdleRuns()
    runs.wait("asks")
    runs.rest("parent")
    assert ("asks" in runs, "parent" in runs, "other" in runs, len(runs)) == (True, True, False, 1)
    assert (runs.rouse("asks"), runs.rouse("parent"), runs.rouse("other")) == (False, True, False)
    assert ("asks" in runs, "parent" in runs, len(runs)) == (False, False, 0)
