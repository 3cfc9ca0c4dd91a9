"""The prompt for changing a plan: the plan with its results, and the issues found with it."""

from collections.abc import Iterator, Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.plans.evaluations import Evaluation, Issue
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.values import canonical_json, display_json
from aeond.orchestration.context.shortening import shorten

_MAX_RESULT_CHARS: Final = 400
_UNFULFILLED: Final = "the request is not fulfilled yet"
_LOW: Final = {
    "COMPLETENESS_LOW": _UNFULFILLED,
    "COHERENCE_LOW": "the results do not fit together",
    "CONSISTENCY_LOW": "results disagree",
}
_RULES: Final = """\
Do not plan again. Change the plan so that all of this is repaired, and nothing else. Reply with JSON: \
{"changes":[...]}, as few as possible. A change is one of these:
{"change":"add","step":{...}}
{"change":"replace","id":"s3","step":{...}}
{"change":"remove","id":"s3"}
Steps that gave a result stay as they are: refer to them as "$s1". A step that failed is replaced by one \
that can work. No changes if nothing can be done: {"changes":[]}"""


def refining_messages(run: RunSnapshot, preamble: Sequence[Message]) -> tuple[Message, ...]:
    """Asks for changes to the run's plan."""
    wrong = "\n".join(_wrong(run.evaluation)) or f"- {_UNFULFILLED}"
    plan = "\n".join(_lines(run))
    said = f"Request: {run.text}\n\nThe plan so far:\n{plan}\n\nWhat is wrong:\n{wrong}\n\n{_RULES}"
    return (*preamble, Message(Role.USER, said))


def _wrong(judged: Evaluation | None) -> Iterator[str]:
    """A line for each issue, then one for each score that was too low."""
    if judged is not None:
        yield from (_issue_line(issue) for issue in judged.issues)
        yield from (f"- {_LOW[reason]}" for reason in judged.reasons if reason in _LOW)


def _lines(run: RunSnapshot) -> Iterator[str]:
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
