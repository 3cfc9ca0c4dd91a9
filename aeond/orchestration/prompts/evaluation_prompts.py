"""Prompts for profiling a task, for judging a plan or a pass, and for changing a plan by what was found.

Each is one more turn behind the preamble that planning begins with too.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans.evaluations import Evaluation, Issue
from aeond.domain.plans.plan import Plan, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.values import canonical_json, display_json
from aeond.orchestration.context.shortening import shorten, shorten_together

_PROFILE: Final = """\
Request: {request}

Do not plan it yet. Say how hard it is, as JSON: depth 1 (at once) to 5 (long thought); known: percent of \
what is needed that the request itself tells; tools: how many calls it takes (none, minimal: 1 or 2, \
moderate: 3 to 5, extensive); breadth of the result; confidence that is needed; why, in a few words."""

_JUDGE: Final = """\
{what}

Do not plan. Judge as JSON. issues: only what is plainly wrong, mostly none. kind: vague, irrelevant (not \
asked for), contradiction (two parts disagree), invented (nothing supports it), wrong_action (a step does \
something else than it says). repair: what to do instead."""

_SCORES: Final = """\
 completeness: percent of the request that the results fulfil. coherence: how well the results fit together. \
consistency: 100 if no two results disagree."""
_MAX_RESULT_CHARS: Final = 400
_UNFULFILLED: Final = "the request is not fulfilled yet"
_LOW: Final = {
    "COMPLETENESS_LOW": _UNFULFILLED,
    "COHERENCE_LOW": "the results do not fit together",
    "CONSISTENCY_LOW": "results disagree",
}
_CHANGE_RULES: Final = """\
Do not plan again. Change the plan so that all of this is repaired, and nothing else. Reply with JSON: \
{"changes":[...]}, as few as possible. A change is one of these:
{"change":"add","step":{...}}
{"change":"replace","id":"s3","step":{...}}
{"change":"remove","id":"s3"}
Steps that gave a result stay as they are: refer to them as "$s1". A step that failed is replaced by one \
that can work. No changes if nothing can be done: {"changes":[]}"""


def profile_messages(request: str, preamble: Sequence[Message]) -> tuple[Message, ...]:
    """Asks how hard a request is."""
    return (*preamble, _user(_PROFILE.format(request=request)))


def plan_judging_messages(request: str, plan: Plan, preamble: Sequence[Message]) -> tuple[Message, ...]:
    """Asks what is wrong with a plan that has not run."""
    steps = "\n".join(f"{step.step_id}: {step.description}" for step in plan)
    return (*preamble, _user(_JUDGE.format(what=f"Request: {request}\n\nThe plan for it:\n{steps}")))


def pass_judging_messages(
    run: RunSnapshot, issues: Sequence[Issue], preamble: Sequence[Message], result_chars: int
) -> tuple[Message, ...]:
    """Asks what is wrong with what the steps gave, and how far it fulfils the request."""
    ended = [step for step in run.steps.values() if step.state.ended]
    results = shorten_together([_result_of(step) for step in ended], result_chars)
    lines = [
        f"{step.step_id} ({step.step.description}): {result}"
        for step, result in zip(ended, results, strict=True)
    ]
    flagged = [f"- {issue.step_id} {issue.reason}: {issue.message}" for issue in issues]
    parts = [f"Request: {run.text}", "What the steps gave:\n" + "\n".join(lines)]
    if flagged:
        parts.append("Found already:\n" + "\n".join(flagged))
    return (*preamble, _user(_JUDGE.format(what="\n\n".join(parts)) + _SCORES))


def results_length(run: RunSnapshot) -> int:
    """How many characters there are to judge."""
    return sum(len(_result_of(step)) for step in run.steps.values() if step.state.ended)


def _result_of(step: StepSnapshot) -> str:
    if step.state is StepState.SUCCEEDED:
        return display_json(step.output)
    return f"no result ({step.state}): {step.error or step.reason}"


def refining_messages(run: RunSnapshot, preamble: Sequence[Message]) -> tuple[Message, ...]:
    """Asks for changes to the run's plan."""
    wrong = "\n".join(_wrong(run.evaluation)) or f"- {_UNFULFILLED}"
    plan = "\n".join(_plan_lines(run))
    said = f"Request: {run.text}\n\nThe plan so far:\n{plan}\n\nWhat is wrong:\n{wrong}\n\n{_CHANGE_RULES}"
    return (*preamble, _user(said))


def _wrong(judged: Evaluation | None) -> Iterator[str]:
    """A line for each issue, then one for each score that was too low."""
    if judged is not None:
        yield from (_issue_line(issue) for issue in judged.issues)
        yield from (f"- {_LOW[reason]}" for reason in judged.reasons if reason in _LOW)


def _plan_lines(run: RunSnapshot) -> Iterator[str]:
    for step in run.steps.values():
        call = step.step.tool_call
        what = step.step.description if call is None else f"{call.tool} {canonical_json(call.arguments)}"
        yield f"{step.step_id}: {shorten(what, _MAX_RESULT_CHARS)} -> {_state_of(step)}"


def _state_of(step: StepSnapshot) -> str:
    if step.state is StepState.SUCCEEDED:
        return f"result: {shorten(display_json(step.output), _MAX_RESULT_CHARS)}"
    if step.executed:
        return f"{step.state}: {shorten(step.error or step.reason, _MAX_RESULT_CHARS)}"
    return "not run"


def _issue_line(issue: Issue) -> str:
    place = f"{issue.step_id}: " if issue.step_id else ""
    return f"- {place}{issue.message}" + (f" ({issue.proposal})" if issue.proposal else "")


def _user(text: str) -> Message:
    return Message(Role.USER, text)
