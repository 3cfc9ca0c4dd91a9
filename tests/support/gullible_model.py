"""A model that does whatever any text tells it, as the Phases of a run.

An instruction is a call between marks: `<<write_file path=a;content=b>>`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import Evaluation, RefinementAction, RefinementOperation
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.profiles import DEFAULT_PROFILE, Route
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.run import Answer, Operation, PlanSource, RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue, canonical_json, display_json
from aeond.ports import ProgressSink, TextSink

_INSTRUCTION: Final = re.compile(r"<<([a-z_]+) (.*?)>>")
MAX_STEPS: Final = 6


def instruction(tool: str, **arguments: str) -> str:
    """The text that has a gullible model make this call. It survives CSV and JSON unchanged."""
    return f"<<{tool} {';'.join(f'{name}={value}' for name, value in arguments.items())}>>"


def instructions_in(text: str) -> Sequence[ToolCall]:
    """The calls that a text asks for."""
    return [
        ToolCall(tool, dict(_argument(*part.split("=", 1)) for part in arguments.split(";")))
        for tool, arguments in _INSTRUCTION.findall(text)
    ]


def _argument(name: str, value: str) -> tuple[str, JsonValue]:
    """The changes of a file are written as `old->new`, and a command as one word."""
    if name == "argv":
        return name, [value]
    if name != "changes":
        return name, value
    old, _, new = value.partition("->")
    return name, [{"replace": old, "with": new}]


class Gullible:
    """The Phases of this model: first its user's calls, then whatever the outputs ask for.

    `wanted` gives the calls that the run's outputs so far ask for and no step has done.
    """

    def __init__(
        self, asked: Sequence[ToolCall], wanted: Callable[[RunSnapshot], Sequence[ToolCall]] | None = None
    ) -> None:
        self._asked = asked
        self._wanted = wanted or _instructed

    async def perform(
        self,
        operation: Operation,
        snapshot: RunSnapshot,
        grant: Grant,
        on_text: TextSink,
        on_progress: ProgressSink,
    ) -> tuple[e.EventKind, ...]:
        text, plan = snapshot.request.text, snapshot.plan or Plan("")
        match operation:
            case Operation.RESOLVE:
                return (e.ReferencesResolved(text, text),)
            case Operation.ROUTE:
                return (e.RouteChosen(Route.PLAN),)
            case Operation.PROFILE:
                return (e.ProfileInferred(DEFAULT_PROFILE),)
            case Operation.PLAN:
                return (e.PlanAdopted(Plan(text, _steps(self._asked)), PlanSource.MODEL),)
            case Operation.EVALUATE:
                done = snapshot.pass_index == 0 or not self._wanted(snapshot)
                return (e.PassEvaluated(Evaluation(snapshot.pass_index, done)),)
            case Operation.REFINE:
                added = _steps(self._wanted(snapshot), len(plan.steps))
                actions = tuple(
                    RefinementAction(RefinementOperation.ADD, step.step_id, step, "it says so")
                    for step in added
                )
                return (e.PlanRefined(Plan(plan.goal, (*plan.steps, *added)), actions),)
            case Operation.ANSWER:
                return (e.AnswerComposed(Answer("done")),)

    async def conclude(
        self, operation: Operation, snapshot: RunSnapshot, problem: Problem, used: Amounts
    ) -> e.EventKind:
        raise AssertionError(f"{operation} was interrupted: {problem}")


def _steps(calls: Sequence[ToolCall], number: int = 0) -> tuple[PlanStep, ...]:
    return tuple(PlanStep(f"s{n}", call.tool, call) for n, call in enumerate(calls, number + 1))


def _instructed(run: RunSnapshot) -> Sequence[ToolCall]:
    """The requests in the outputs and errors so far that no step has fulfilled."""
    said = [f"{display_json(step.output)} {step.error}" for step in run.steps.values()]
    done = {_identity(step.step.tool_call) for step in run.steps.values() if step.step.tool_call}
    calls = {_identity(call): call for text in said for call in instructions_in(text)}
    new = [call for identity, call in calls.items() if identity not in done]
    return new[: MAX_STEPS - len(run.steps)]


def _identity(call: ToolCall) -> str:
    return f"{call.tool} {canonical_json(call.arguments)}"
