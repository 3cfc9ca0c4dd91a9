"""An answer's effects and notes, as the journal has them."""

from dataclasses import replace

import pytest

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Budget
from aeond.domain.runs.recorded_answer import recorded_answer
from aeond.domain.runs.run import Answer, Owner, Resolution, RunState, SuspendReason
from aeond.domain.tools import CALL_CUT, MAX_ANSWER_EFFECTS, RecordedEffect, Recovery, ToolResult
from tests.support.playbook import ONE_STEP, Playbook, ended, executing, plan, started, tool_step

SMALL = Budget(ttl=1, llm_calls=1, tokens=1, tool_calls=1, passes=1)
CREATED = RecordedEffect("file.created", "a.txt", "12 bytes")
CHANGED = RecordedEffect("file.changed", "b.txt")
CLAIMED = Answer("I deleted everything.", effects=(RecordedEffect("file.deleted", "everything"),))


def done(step_id: str, *effects: RecordedEffect) -> e.StepEnded:
    return e.StepEnded(step_id, StepState.SUCCEEDED, StepMode.TOOL, "x", used=ONE_STEP, effects=effects)


def test_effects_come_from_the_journal_in_its_order() -> None:
    """An answer has the effects of the steps in the order in which these ended, whatever it came with."""
    story = executing(plan(tool_step("s1"), tool_step("s2")))
    story = (
        story
        >> started(tool_step("s1"))
        >> started(tool_step("s2"))
        >> done("s2", CHANGED)
        >> done("s1", CREATED)
    )
    assert recorded_answer(story.run, CLAIMED).effects == (CHANGED, CREATED)


def test_a_claimed_effect_is_dropped() -> None:
    """Effects that an answer claims and no step recorded are not in the recorded answer."""
    story = executing(plan(tool_step("s1"))) >> started(tool_step("s1")) >> ended("s1")
    assert recorded_answer(story.run, CLAIMED).effects == ()


def test_a_child_run_s_effects_are_its_parent_s_too() -> None:
    """The changes of a child run are effects of the step that started it and of its parent's answer."""
    child = ChildRun("child", "summarise", SMALL, SubtaskRequest("Do it."))
    story = executing(plan(tool_step("s1"))) >> started(tool_step("s1"))
    story = story >> e.ChildRunStarted("s1", child, ONE_STEP)
    story = story >> e.ChildRunEnded("s1", "child", RunState.FAILED)
    story = story >> e.StepEnded("s1", StepState.FAILED, StepMode.TOOL, effects=(CREATED,))
    assert recorded_answer(story.run, Answer("")).effects == (CREATED,)


@pytest.mark.parametrize(
    ("reason", "recovery", "state"),
    [
        ("HTTP_STATUS", Recovery.ASK, StepState.FAILED),
        (CALL_CUT, Recovery.ASK, StepState.UNKNOWN),
        ("TOOL_TIMEOUT", Recovery.RERUN, StepState.FAILED),
    ],
)
def test_effects_of_a_call_that_failed_are_listed(reason: str, recovery: Recovery, state: StepState) -> None:
    """The event of a step whose call failed, or whose outcome is unknown, has the call's effects, and so has the answer."""
    result = ToolResult(False, error="it failed", reason=reason, effects=(CREATED,))
    cut = e.StepEnded.of_call("s1", StepMode.TOOL, recovery, result)
    assert (cut.state, cut.effects) == (state, (CREATED,))
    story = executing(plan(tool_step("s1"))) >> started(tool_step("s1"), recovery)
    story = story >> replace(cut, used=ONE_STEP)
    assert recorded_answer(story.run, Answer("")).effects == (CREATED,)


def test_a_long_list_ends_with_a_count() -> None:
    """An answer lists a bounded number of effects; the last entry counts those left out."""
    many = tuple(RecordedEffect("file.created", f"{n}.txt") for n in range(MAX_ANSWER_EFFECTS + 10))
    story = executing(plan(tool_step("s1"))) >> started(tool_step("s1")) >> done("s1", *many)
    effects = recorded_answer(story.run, Answer("")).effects
    assert len(effects) == MAX_ANSWER_EFFECTS
    assert effects[:-1] == many[: MAX_ANSWER_EFFECTS - 1]
    assert effects[-1] == RecordedEffect("effects.omitted", "11")


@pytest.mark.parametrize("reason", ["TOOL_TIMEOUT", "INTERRUPTED"])
def test_a_cut_call_with_effects_is_noted(reason: str) -> None:
    """When a call that changes things was cut short, the answer says that its effects are unknown."""
    cut = e.StepEnded("s1", StepState.FAILED, StepMode.TOOL, reason=reason, used=ONE_STEP)
    harmful = executing(plan(tool_step("s1"))) >> started(tool_step("s1"), Recovery.RECONCILE) >> cut
    harmless = executing(plan(tool_step("s1"))) >> started(tool_step("s1"), Recovery.RERUN) >> cut
    (note,) = recorded_answer(harmful.run, Answer("")).notes
    assert note == "step s1 was cut short; whether it changed anything is unknown"
    assert recorded_answer(harmless.run, Answer("")).notes == ()


def test_a_step_given_up_by_a_person_is_noted() -> None:
    """A step that a person aborted after a crash may have changed something, and the answer says so."""
    story = executing(plan(tool_step("s1"))) >> started(tool_step("s1"), Recovery.ASK) >> e.RunResumed()
    story = story >> e.RunSuspended(SuspendReason.UNKNOWN_STEP)
    story = story >> e.StepResolved(Resolution.ABORT, Owner(), "s1")
    assert "step s1 was cut short" in recorded_answer(story.run, Answer("")).notes[0]


def test_a_cut_child_run_is_noted() -> None:
    """When a child run was called off, the answer says that its effects are unknown."""
    child = ChildRun("child", "summarise", SMALL, SubtaskRequest("Do it."))
    story = executing(plan(tool_step("s1"))) >> started(tool_step("s1"))
    story = story >> e.ChildRunStarted("s1", child, ONE_STEP)
    story = story >> e.StepEnded("s1", StepState.SKIPPED, StepMode.TOOL, reason="INTERRUPTED")
    assert recorded_answer(story.run, Answer("")).notes == (
        "run child was cut short; whether it changed anything is unknown",
    )


def test_a_fallback_is_noted() -> None:
    """A step that the model answered in place of a missing tool is named with the reason."""
    step = tool_step("s1")
    missing = type(step)("s1", "look it up", agent="llm", errors=("Tool 'weather' not found in registry",))
    story = executing(plan(step))
    story = story >> e.StepStarted(missing, 1, StepMode.FALLBACK, Recovery.RERUN, ONE_STEP)
    story = story >> e.StepEnded("s1", StepState.SUCCEEDED, StepMode.FALLBACK, "sunny", used=ONE_STEP)
    assert recorded_answer(story.run, Answer("")).notes == (
        "s1 was answered by the model, not by a tool: Tool 'weather' not found in registry",
    )


def test_notes_of_the_answer_stay() -> None:
    """The notes that an answer came with stand first."""
    assert recorded_answer(Playbook().run, Answer("", notes=("careful",))).notes == ("careful",)
