"""Issues of a plan or of a pass that are found without a model."""

from collections.abc import Collection, Iterator
from typing import Final

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import Issue, Severity
from aeond.domain.plans.plan import Clarity, Plan, StepState
from aeond.domain.plans.steps import StepMode, StepSnapshot
from aeond.domain.runs.run import RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.context.shortening import shorten
from aeond.orchestration.evaluation.progress import fresh_steps
from aeond.ports import Validator

MAX_ISSUES: Final = 16
MAX_MESSAGE_CHARS: Final = 300
BLOCKED: Final = "BLOCKED"

# The proposed fix for a problem of a plan, by its reason or a prefix of it.
_PROPOSALS: Final = {
    "TOOL_UNKNOWN": "use one of the tools that there are, or let the llm do it",
    "AGENT_UNKNOWN": "let the llm do it",
    "PLAN_CYCLE": "let one of these steps not wait for the others",
    "DEPENDENCY_UNKNOWN": "wait for a step of this plan",
    "REFERENCE_": "refer to a step that comes earlier",
    "ARGUMENT_MISSING": "give the argument",
    "ARGUMENT_UNKNOWN": "leave the argument out",
    "ARGUMENT_INVALID": "give the argument as the tool wants it",
    "TASK_EMPTY": "say what the step is to do",
}


@frozen
class PassFacts:
    """A pass as its steps tell it. `succeeded` is whether any step gave a result."""

    issues: tuple[Issue, ...]
    succeeded: bool

    @property
    def flawless(self) -> bool:
        """Whether every step gave its result and nothing is flagged."""
        return self.succeeded and not self.issues

    @property
    def lacking(self) -> bool:
        """Whether a result is missing that no later step made good."""
        return any(issue.severity is Severity.HIGH for issue in self.issues)


def plan_issues(plan: Plan, validator: Validator, tools: Collection[str]) -> tuple[Issue, ...]:
    """Unknown tools and agents, cycles, missing dependencies, references and arguments that cannot work.

    `tools` are the names that the run may use.
    """
    found = [_of_problem(problem, plan) for problem in validator.validate_plan(plan)]
    for step in plan:
        call = step.tool_call
        if call is not None and call.tool not in tools:
            found.append(_issue("TOOL_UNKNOWN", step.step_id, f"there is no tool '{call.tool:.64}' here"))
        elif call is None and step.agent and validator.validate_step_tool(step).errors:
            found.append(_issue("AGENT_UNKNOWN", step.step_id, f"there is no agent '{step.agent:.64}'"))
    return tuple(found[:MAX_ISSUES])


def pass_facts(run: RunSnapshot) -> PassFacts:
    """The last pass: what failed, is blocked, unclear, or was done by the model in place of a tool.

    A failed call is settled, and no issue, where a later call of the same tool took its place: it succeeded, and so
    did a step that waited for it.
    """
    settled = frozenset(_settled(run))
    fresh = [index for index in range(1, run.pass_index + 1) if fresh_steps(run, index)]
    issues: list[Issue] = []
    for step in run.steps.values():
        if step.step_id in settled:
            continue
        made_good = any(index > step.pass_index for index in fresh)
        issues += _of_step(step, made_good=made_good)
    if len(issues) > MAX_ISSUES:  # severe issues first, so that the cut does not hide them
        issues.sort(key=lambda issue: issue.severity is not Severity.HIGH)
    return PassFacts(tuple(issues[:MAX_ISSUES]), bool(run.steps_in(StepState.SUCCEEDED)))


def _settled(run: RunSnapshot) -> Iterator[str]:
    """The failed calls in whose place others succeeded, one for each."""
    succeeded = run.steps_in(StepState.SUCCEEDED)
    used = {name for step in succeeded for name in step.step.depends_on}
    free = [step for step in succeeded if step.step.tool_call and step.step_id in used]
    for lost in run.steps_in(StepState.FAILED, StepState.INVALID):
        for other in free:
            if other.tool == lost.tool and other.pass_index > lost.pass_index:
                free.remove(other)
                yield lost.step_id
                break


def _of_step(step: StepSnapshot, *, made_good: bool) -> Iterator[Issue]:
    if step.lost:
        reason = BLOCKED if step.clarity is Clarity.BLOCKED else step.reason or "STEP_FAILED"
        severity = Severity.LOW if made_good else Severity.HIGH
        yield _issue(reason, step.step_id, step.error or "it gave no result", severity)
    elif step.state is StepState.SKIPPED:
        yield _issue("SKIPPED", step.step_id, step.error or "it did not run", Severity.LOW)
    elif step.clarity is Clarity.PARTIALLY_CLEAR:
        said = step.step.handoff_to_next or "it is only partly clear"
        yield _issue("PARTIALLY_CLEAR", step.step_id, said, Severity.LOW)
    elif step.mode is StepMode.FALLBACK:
        yield _issue("TOOL_MISSING", step.step_id, "the model stood in for a missing tool", Severity.MEDIUM)


def _of_problem(problem: Problem, plan: Plan) -> Issue:
    parts = problem.path.split("/")
    place = parts[2] if len(parts) > 2 and parts[1] == "steps" else ""
    known = place.isdecimal() and int(place) < len(plan.steps)
    return _issue(problem.reason, plan.steps[int(place)].step_id if known else "", problem.message)


def _issue(reason: str, step_id: str, message: str, severity: Severity = Severity.HIGH) -> Issue:
    proposal = next((text for start, text in _PROPOSALS.items() if reason.startswith(start)), "")
    said = " ".join(shorten(message, MAX_MESSAGE_CHARS).split())
    return Issue(reason, severity, step_id, said, proposal)
