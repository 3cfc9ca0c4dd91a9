"""What the parts of the orchestration are to each other: seams that nothing outside of it sees."""

from collections.abc import Sequence
from typing import Protocol

from aeond.domain.outcome import Outcome, Problem
from aeond.domain.plans.evaluations import Evaluation, RefinementAction
from aeond.domain.plans.plan import Plan
from aeond.domain.plans.profiles import Route, TaskProfile
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Budget, Grant
from aeond.domain.runs.run import Answer, RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.frozen import frozen
from aeond.ports import ProgressSink, TextSink


@frozen
class PlanDraft:
    """A plan that validated, and the repairs that made it valid."""

    plan: Plan
    repairs: tuple[str, ...] = ()


class Planner(Protocol):
    """Turns a request into a plan with one constrained model call; repairs only form."""

    async def draft(
        self, snapshot: RunSnapshot, grant: Grant, on_progress: ProgressSink
    ) -> Outcome[PlanDraft | None]: ...


class Answerer(Protocol):
    """Phase E: always answers, also when the model is gone or the budget spent."""

    async def compose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Answer: ...


def discard_text(_text: str) -> None:
    """A TextSink for text that no client sees while it is written."""


# ---------------------------------------------------------------- phases A to D


@frozen
class Resolved:
    """A request with its references spelled out, the session part of later prompts, a note on the rewriting
    or the reason for none, earlier statements of the user that still hold, and the untrusted sources of that part."""

    text: str
    context: str = ""
    note: str = ""
    standing: tuple[str, ...] = ()
    taint: tuple[str, ...] = ()


class References(Protocol):
    """Spells out "that", "it" and "again" from the session; a step of its own that can be read and tested."""

    async def resolve(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Resolved]:
        """On failure the text as it was, with the context there is. No model call where there is no context."""


@frozen
class RouteChoice:
    """`tool_call` is set for DIRECT and only there; `answer` for REPLY, where it was given in the same breath."""

    route: Route
    tool_call: ToolCall | None = None
    answer: Answer | None = None


class ToolSelection(Protocol):
    """The tools that a run is shown if there are too many to show all."""

    async def choose(self, run: RunSnapshot) -> tuple[str, ...]:
        """Their names, sorted; () to show all. Never raises."""


class Router(Protocol):
    """The first decision: REPLY by the reply itself, else constrained calls under schemas built from the live
    registry."""

    async def choose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[RouteChoice]:
        """On failure PLAN. A reply is shown as it comes."""


class Depth(Protocol):
    """How hard the task looks, and what it may cost for that."""

    async def infer(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[TaskProfile]:
        """One model call; malformed output is repaired, not asked for again. On failure the default."""

    def allocate(self, profile: TaskProfile, bound: Budget) -> Budget:
        """The budget for a profile, never above the bound: a documented function of the two."""

    def adapt(self, snapshot: RunSnapshot) -> tuple[TaskProfile, Budget, tuple[str, ...]] | None:
        """At a pass boundary: another profile and budget with the reasons, or None for no change."""


@frozen
class Judgement:
    """An evaluation, and the changes to the plan that were asked for in the same breath."""

    evaluation: Evaluation
    actions: tuple[RefinementAction, ...] = ()


class Evaluator(Protocol):
    """Judges a plan that has not run (before pass 1) or the pass that ended; advises, decides nothing."""

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        """On failure a conservative judgement that needs no model."""


@frozen
class Refinement:
    """A plan after delta-style changes to steps that had not run."""

    plan: Plan
    applied: tuple[RefinementAction, ...] = ()
    skipped: tuple[Problem, ...] = ()


class Refiner(Protocol):
    """Changes what has not run, with the issues of the evaluation as hard constraints."""

    async def refine(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Refinement]:
        """On failure the plan as it was."""

    def apply(self, snapshot: RunSnapshot, actions: Sequence[RefinementAction]) -> Refinement:
        """What of these actions is valid, applied within the limits; the others are skipped with a problem."""


class Templates(Protocol):
    """The library of Templates."""

    def match(self, request: SubtaskRequest) -> Outcome[Template | None]:
        """The template that a hint of the request names; a problem if none does, or an input is missing."""
