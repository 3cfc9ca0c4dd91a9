"""Parts that ask neither a model nor a person: for runs that need only a plan, its steps and an answer."""

from collections.abc import Sequence

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.evaluations import Evaluation, RefinementAction
from aeond.domain.plans.plan import Plan, StepState
from aeond.domain.plans.profiles import DEFAULT_PROFILE, Route, TaskProfile
from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.policy import CallFacts, Decision
from aeond.domain.runs.budgets import Budget, Grant
from aeond.domain.runs.events import EventKind, Intent
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolContext, ToolResult
from aeond.frozen import frozen
from aeond.orchestration.interfaces import Judgement, Refinement, Resolved, RouteChoice
from aeond.ports import TextSink


class AsSaid:
    """References: the request means what it says."""

    async def resolve(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Resolved]:
        return success(Resolved(snapshot.request.text))


class ShowAll:
    """The ToolSelection that never chooses."""

    async def choose(self, run: RunSnapshot) -> tuple[str, ...]:
        return ()


class AlwaysPlan:
    """Router: every request is planned."""

    async def choose(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> Outcome[RouteChoice]:
        return success(RouteChoice(Route.PLAN))


class FixedDepth:
    """Depth: every task looks the same, and gets all that it may have."""

    async def infer(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[TaskProfile]:
        return success(DEFAULT_PROFILE)

    def allocate(self, profile: TaskProfile, bound: Budget) -> Budget:
        return bound

    def adapt(self, snapshot: RunSnapshot) -> tuple[TaskProfile, Budget, tuple[str, ...]] | None:
        return None


class AcceptAll:
    """Evaluator: a plan is good, and a pass whose steps all succeeded; nothing is said of any other."""

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        ended = [step for step in snapshot.steps.values() if step.state.ended]
        good = all(step.state is StepState.SUCCEEDED for step in ended)
        reason = "ACCEPTED" if good else "STEPS_FAILED"
        return success(Judgement(Evaluation(snapshot.pass_index, converged=good, reasons=(reason,))))


class NeverRefine:
    """Refiner: a plan stays as it is."""

    async def refine(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Refinement]:
        return success(self.apply(snapshot, ()))

    def apply(self, snapshot: RunSnapshot, actions: Sequence[RefinementAction]) -> Refinement:
        skipped = tuple(Problem("REFINEMENT_OFF", f"{a.operation} {a.step_id}") for a in actions)
        return Refinement(snapshot.plan or Plan(""), skipped=skipped)


@frozen
class NoTemplates:
    """Templates: there is no library."""

    def match(self, request: SubtaskRequest) -> Outcome[Template | None]:
        return failure(Problem("TEMPLATE_NOT_FOUND", "this daemon has no templates for subtasks"), None)


class NamedTemplates:
    """SubtaskChooser: only subtasks that name their template are performed."""

    async def choose(self, request: SubtaskRequest, grant: Grant) -> Outcome[SubtaskRequest]:
        return success(request)


class AlwaysWait:
    """ImmediateWork: everything is waited for."""

    def perform(self, intent: Intent, run: RunSnapshot) -> tuple[EventKind, ...]:
        return ()


class NoSituations:
    """Situations: nothing surrounds a request."""

    async def observe(self, run: RunSnapshot) -> Situation:
        return Situation()

    async def nearest(self, run: RunSnapshot, words: str) -> tuple[str, ...]:
        return ()

    async def language(self, text: str) -> str:
        return ""


class NoApprover:
    """The Approver of a daemon that cannot ask: it refuses every call."""

    async def approve(self, facts: CallFacts, decision: Decision, context: ToolContext) -> ToolResult | None:
        error = (
            f"this call needs a person's approval ({decision.rule or 'no rule'}: {decision.reason}), which cannot be"
            " given here; do without it, or ask the user to allow it in the policy"
        )
        return ToolResult(False, error=error, reason="APPROVAL_UNAVAILABLE")
