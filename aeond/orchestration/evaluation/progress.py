"""Detects from its steps alone whether a run makes progress."""

from typing import Final

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.values import JsonValue, canonical_json

BARREN_PASSES: Final = 2  # so many in a row without anything new are one too many
_ALTERNATION: Final = 4  # calls: one, another, the one, the other


def stuck_in(run: RunSnapshot) -> str:
    """Why more of the same would not help, in plain words; "" when the run gets on.

    A run is stuck when a call of the last pass failed exactly as it was made in an earlier pass, when its
    last four calls are two in turn, the second time in a later pass, or when two passes one after the other
    gave nothing new.
    """
    calls = [(step, _call_of(step)) for step in executed_steps(run)]
    latest = [(step, call) for step, call in calls if step.pass_index == run.pass_index]
    failed_before = {c for s, c in calls if s.lost and s.pass_index < run.pass_index}
    for step, call in latest:
        if step.lost and call in failed_before:
            return f"{step.step_id} failed with the same call as a step before it"
    last = calls[-_ALTERNATION:]
    turns = [call for _, call in last]
    alternate = len(turns) == _ALTERNATION and turns[0] != turns[1] and turns[:2] == turns[2:]
    if latest and alternate and last[1][0].pass_index < last[2][0].pass_index:
        return "the same two calls are made in turn"
    passes = range(run.pass_index, run.pass_index - BARREN_PASSES, -1)
    if run.pass_index >= BARREN_PASSES and not any(fresh_steps(run, index) for index in passes):
        return f"the last {BARREN_PASSES} passes gave nothing new"
    return ""


def fresh_steps(run: RunSnapshot, pass_index: int) -> tuple[StepSnapshot, ...]:
    """The steps that succeeded in that pass, and not by giving again what the same call gave before."""
    succeeded = [step for step in executed_steps(run) if step.state is StepState.SUCCEEDED]
    known = {_given_by(step) for step in succeeded if step.pass_index < pass_index}
    return tuple(s for s in succeeded if s.pass_index == pass_index and _given_by(s) not in known)


def executed_steps(run: RunSnapshot) -> tuple[StepSnapshot, ...]:
    """The steps that began, in the order of their passes, and of the plan within a pass."""
    return tuple(sorted((s for s in run.steps.values() if s.attempt), key=lambda step: step.pass_index))


def _call_of(step: StepSnapshot) -> str:
    """What the step did, as text: the same for the same."""
    call = step.step.tool_call
    if call is not None:
        return canonical_json([call.tool, call.arguments])
    said: list[JsonValue] = [step.step.agent, step.step.description, list(step.step.depends_on)]
    return canonical_json(said)


def _given_by(step: StepSnapshot) -> str:
    return f"{_call_of(step)} {canonical_json(step.output)}"
