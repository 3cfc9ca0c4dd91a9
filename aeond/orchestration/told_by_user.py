"""Runs that got nothing but what their user told them: the user knows that, so the request is still to be done."""

from aeond.domain.plans import StepState
from aeond.domain.runs import RunSnapshot
from aeond.orchestration.doubts import ASKING
from aeond.orchestration.pointing import words_of


def knows_from_the_user_alone(run: RunSnapshot) -> bool:
    """Whether all results of a run are what its user told it when asked."""
    calls = [step.step.tool_call for step in run.steps_in(StepState.SUCCEEDED)]
    return bool(calls) and all(call is not None and call.tool == ASKING for call in calls)


def repeats_the_user(answer: str, run: RunSnapshot) -> bool:
    """Whether an answer is nothing but what the user told, whatever its case and its punctuation."""
    told = " ".join(str(step.output) for step in run.steps_in(StepState.SUCCEEDED))
    return knows_from_the_user_alone(run) and words_of(answer) == words_of(told)
