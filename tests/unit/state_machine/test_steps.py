from dataclasses import replace

import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import InputAnswered, StepRepaired, StepStarted
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Owner, RunSnapshot
from aeond.domain.tools import Recovery
from aeond.state_machine.steps import advance, after_crash, answer, refined, repair, start

FIRST = PlanStep("s1", "first")
SECOND = PlanStep("s2", "second", depends_on=("s1",))


def steps_of(*snapshots: StepSnapshot) -> dict[str, StepSnapshot]:
    return {snapshot.step_id: snapshot for snapshot in snapshots}


def answered() -> RunSnapshot:
    """A run whose only step asked a question that continues its call, and has the answer `red`."""
    question = Question("s1.1", "s1", InputRequest("Which?", continues=True), 1.0)
    asks = StepSnapshot(FIRST, StepState.RUNNING, attempt=1, question=question)
    run = RunSnapshot("run", plan=Plan("a goal", (FIRST,)), steps=steps_of(asks))
    return answer(run, InputAnswered("s1.1", "red", Owner()))


def states(steps: object) -> list[StepState]:
    return [step.state for step in steps.values()]  # type: ignore[attr-defined]  # a mapping of steps


def test_steps_are_ready_when_all_they_wait_for_succeeded() -> None:
    """A step without dependencies is READY at once, one with some when each of them gave its result."""
    waiting = steps_of(StepSnapshot(FIRST), StepSnapshot(SECOND))
    assert states(advance(waiting)) == [StepState.READY, StepState.PENDING]
    done = steps_of(StepSnapshot(FIRST, StepState.SUCCEEDED), StepSnapshot(SECOND))
    assert states(advance(done)) == [StepState.SUCCEEDED, StepState.READY]


@pytest.mark.parametrize("state", [StepState.FAILED, StepState.INVALID, StepState.SKIPPED])
def test_all_dependants_of_a_skipped_step_are_skipped(state: StepState) -> None:
    """Without the result that it needs a step will not run, nor will what needs that one."""
    third = replace(SECOND, step_id="s3", depends_on=("s2",))
    steps = advance(steps_of(StepSnapshot(third), StepSnapshot(SECOND), StepSnapshot(FIRST, state)))
    assert states(steps) == [StepState.SKIPPED, StepState.SKIPPED, state]
    assert steps["s2"].error == "its dependency s1 gave no result"


def test_a_refined_plan_keeps_what_was_executed() -> None:
    """Steps that began stay as they are, the others stand as newly planned, and none that began is lost."""
    began = StepSnapshot(FIRST, StepState.FAILED, attempt=1, pass_index=1, error="no garden")
    skipped = StepSnapshot(SECOND, StepState.SKIPPED)
    free = replace(SECOND, depends_on=())
    steps = refined(steps_of(began, skipped), Plan("a goal", (FIRST, free)))
    assert steps["s1"] is began
    assert steps["s2"] == StepSnapshot(free, StepState.READY)
    with pytest.raises(ValueError, match="s1"):
        refined(steps_of(began, skipped), Plan("a goal", (free,)))


def test_a_dependency_that_is_not_in_the_plan_is_lost() -> None:
    """A missing dependency is never satisfied: its dependents are skipped, and other steps continue."""
    waiting = StepSnapshot(replace(SECOND, step_id="s3", depends_on=("s1", "s9")))
    steps = advance(steps_of(StepSnapshot(FIRST, StepState.SUCCEEDED), waiting, StepSnapshot(SECOND)))
    assert states(steps) == [StepState.SUCCEEDED, StepState.SKIPPED, StepState.READY]
    assert (steps["s3"].error, steps["s3"].reason) == (
        "its dependency s9 gave no result",
        "DEPENDENCY_FAILED",
    )


@pytest.mark.parametrize(("continues", "state"), [(False, StepState.SUCCEEDED), (True, StepState.READY)])
def test_an_answer_is_the_result_or_continues_the_call(*, continues: bool, state: StepState) -> None:
    """The answer to a question in the middle of a call starts the step again, and the call receives it once."""
    question = Question("s1.1", "s1", InputRequest("Which?", continues=continues), 1.0)
    asks = StepSnapshot(FIRST, StepState.RUNNING, attempt=1, question=question)
    run = RunSnapshot("run", plan=Plan("a goal", (FIRST,)), steps=steps_of(asks))
    after = answer(run, InputAnswered("s1.1", "red", Owner()))
    assert (after.steps["s1"].state, after.steps["s1"].output) == (state, "red")
    assert after.tool_context("s1", "call").answer == "red"
    started = {"s1": replace(after.steps["s1"], state=StepState.RUNNING, recovery=Recovery.ASK)}
    crashed = replace(after, steps=started)
    cut = replace(crashed, steps=after_crash(crashed))
    assert (cut.steps["s1"].state, cut.tool_context("s1", "call").answer) == (StepState.UNKNOWN, None)


@pytest.mark.parametrize("mode", StepMode)
def test_an_answer_reaches_only_the_call_that_asked(mode: StepMode) -> None:
    """A step that starts again to call its tool passes the answer on; in any other mode the answer is dropped."""
    begun = start(answered(), StepStarted(FIRST, 2, mode, Recovery.RERUN, Amounts()))
    expected = "red" if mode is StepMode.TOOL else None
    assert begun.tool_context("s1", "call").answer == expected


@pytest.mark.parametrize("mode", [StepMode.TOOL, StepMode.REPAIR])
def test_a_repaired_call_has_no_answer(mode: StepMode) -> None:
    """The answer to the question of the earlier call does not survive a repair, whatever is called then."""
    begun = start(answered(), StepStarted(FIRST, 2, mode, Recovery.RERUN, Amounts()))
    repaired = repair(begun, StepRepaired(FIRST, Problem("STEP_MENDED", "there is no such tool")))
    assert (repaired.steps["s1"].state, repaired.steps["s1"].reservation) == (StepState.READY, Amounts())
    again = start(repaired, StepStarted(FIRST, 3, StepMode.TOOL, Recovery.RERUN, Amounts()))
    assert again.tool_context("s1", "call").answer is None
