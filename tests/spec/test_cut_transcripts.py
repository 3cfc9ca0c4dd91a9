"""Transcripts of runs that are cut: by a crash, a stop, a full disk or a person who must decide."""

import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.commands import ExecuteStep, Record
from aeond.domain.runs.reservations import TOOL_STEP
from aeond.domain.runs.run import Owner, Resolution, RunState, SuspendReason
from aeond.domain.tools import Recovery
from tests.support.playbook import (
    CHAIN,
    WAIT,
    asked,
    executing,
    plan,
    started,
    tool_step,
)


def test_crashes_count_while_a_question_is_open() -> None:
    """A run whose other steps crash the daemon three times is suspended, though it waits for a person too."""
    two = plan(tool_step("s1"), tool_step("s2"))
    book = executing(two) >> started(tool_step("s1")) >> asked("s1") >> started(tool_step("s2"))
    for attempt in (2, 3, 4):
        book = book >> e.RunResumed() >> started(tool_step("s2"), attempt=attempt)
    book << Record(
        e.RunSuspended(SuspendReason.REPEATED_CRASHES, "the daemon crashed 3 times during this run")
    )


def test_waiting_for_a_person_is_no_crash() -> None:
    """A run that only waited for an answer is not blamed for the end of the daemon."""
    book = executing(plan(tool_step("s1"))) >> started(tool_step("s1")) >> asked("s1") >> e.RunResumed()
    assert book.run.crashes == 0


def test_a_crash_runs_harmless_steps_again() -> None:
    """A step without effects that a crash cut is ready again and all that it had reserved counts as used."""
    book = executing(CHAIN) >> started(tool_step("s1")) >> e.RunResumed() << ExecuteStep("s1", TOOL_STEP)
    assert book.run.ledger.used == TOOL_STEP + Amounts(passes=1)
    assert book.run.crashes == 1


def test_a_crash_inside_an_effect_asks_a_person() -> None:
    """A step with effects that a crash cut is UNKNOWN, the run is suspended, and a person's word moves it on."""
    (
        executing(plan(tool_step("s1")))
        >> started(tool_step("s1"), Recovery.ASK)
        >> e.RunResumed()
        << Record(e.RunSuspended(SuspendReason.UNKNOWN_STEP, "the outcome of these steps is unknown: s1"))
        >> e.RunSuspended(SuspendReason.UNKNOWN_STEP)
        << WAIT
        >> e.StepResolved(Resolution.RETRY, Owner(), "s1")
        << ExecuteStep("s1", TOOL_STEP)
    )


@pytest.mark.parametrize(
    ("resolution", "state"), [(Resolution.DONE, StepState.SUCCEEDED), (Resolution.ABORT, StepState.FAILED)]
)
def test_an_unknown_step_ends_as_a_person_says(resolution: Resolution, state: StepState) -> None:
    """An UNKNOWN step that is marked done counts as succeeded, an aborted one as failed."""
    book = (
        executing(plan(tool_step("s1")))
        >> started(tool_step("s1"), Recovery.ASK)
        >> e.RunResumed()
        >> e.RunSuspended(SuspendReason.UNKNOWN_STEP)
        >> e.StepResolved(resolution, Owner(), "s1")
        << Record(e.PassEnded(1))
    )
    assert book.run.steps["s1"].state is state


def test_an_orderly_stop_is_no_crash() -> None:
    """A parked run that is resumed has no crash counted."""
    book = executing(CHAIN) >> started(tool_step("s1")) >> e.RunParked() >> e.RunResumed()
    assert book.run.crashes == 0
    book << ExecuteStep("s1", TOOL_STEP)


def test_a_run_that_was_live_in_three_crashes_is_not_resumed_by_itself() -> None:
    """The third crash suspends the run, and a person may let it go on."""
    book = executing(CHAIN) >> e.RunResumed() >> e.RunResumed() << ExecuteStep("s1", TOOL_STEP)
    message = "the daemon crashed 3 times during this run"
    (
        book
        >> e.RunResumed()
        << Record(e.RunSuspended(SuspendReason.REPEATED_CRASHES, message))
        >> e.RunSuspended(SuspendReason.REPEATED_CRASHES, message)
        << WAIT
        >> e.StepResolved(Resolution.RETRY, Owner())
        << ExecuteStep("s1", TOOL_STEP)
    )


def test_a_run_stopped_by_a_full_disk_goes_on_once_there_is_room() -> None:
    """A run suspended for the disk is taken up again without a crash counted or a person asked."""
    book = (
        executing(CHAIN)
        >> started(tool_step("s1"))
        >> e.RunSuspended(SuspendReason.DISK_FULL)
        << WAIT
        >> e.RunResumed()
        << ExecuteStep("s1", TOOL_STEP)
    )
    assert book.run.crashes == 0


def test_a_suspended_run_can_be_cancelled() -> None:
    """A run that waits for a person ends when it is cancelled instead."""
    (
        executing(plan(tool_step("s1")))
        >> started(tool_step("s1"), Recovery.ASK)
        >> e.RunResumed()
        >> e.RunSuspended(SuspendReason.UNKNOWN_STEP)
        >> e.CancelRequested(Owner())
        << Record(e.RunEnded(RunState.CANCELLED))
    )
