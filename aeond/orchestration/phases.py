"""Phases A to E for the kernel: each operation goes to the part that knows how, and comes back as events."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeVar, assert_never, cast

from aeond.domain.outcome import Outcome, Problem
from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.plans.profiles import DEFAULT_PROFILE, Route
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.run import Operation, PlanSource, RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.budget.allocation import at_least
from aeond.orchestration.evaluation.convergence import STUCK
from aeond.orchestration.interfaces import (
    Answerer,
    Depth,
    Evaluator,
    Planner,
    References,
    Refinement,
    Refiner,
    Router,
    ToolSelection,
    discard_text,
)
from aeond.orchestration.phase_checks import committed, contract_of
from aeond.ports import ProgressSink, TextSink

log = logging.getLogger(__name__)

T = TypeVar("T")

_ANOTHER_PASS: Final = Amounts(ttl=1, passes=1)


@frozen
class PhaseOrchestrator:
    """Guarantees: one operation, at least one event, never an exception; a part that fails gives its
    fallback, so that a run goes on with less instead of ending.

    Every operation before the answer is under a transition contract: without what that requires the part
    is not asked, and events that would break a guarantee are replaced by those of the fallback. A retryable
    failure is tried exactly once more with the same snapshot.
    """

    references: References
    tools: ToolSelection
    router: Router
    depth: Depth
    planner: Planner
    evaluator: Evaluator
    refiner: Refiner
    answerer: Answerer

    async def perform(
        self,
        operation: Operation,
        snapshot: RunSnapshot,
        grant: Grant,
        on_text: TextSink,
        on_progress: ProgressSink,
    ) -> tuple[e.EventKind, ...]:
        contract = contract_of(operation, snapshot)
        events: tuple[e.EventKind, ...] = ()
        problem = contract.missing(snapshot)
        if problem is None:
            events = await self._perform(operation, snapshot, grant, on_text, on_progress)
            problem = contract.broken(snapshot, events)
        if problem is not None:
            log.warning("%s: %s", problem.reason, problem.message, extra={"run_id": snapshot.run_id})
            events = (await self.conclude(operation, snapshot, problem, grant.used),)
        first, *more = events
        return (replace(cast("e.OperationEnd", first), model_use=grant.model_use), *more)

    async def _perform(
        self,
        operation: Operation,
        snapshot: RunSnapshot,
        grant: Grant,
        on_text: TextSink,
        on_progress: ProgressSink,
    ) -> tuple[e.EventKind, ...]:
        match operation:
            case Operation.RESOLVE:
                return await self._resolve(snapshot, grant)
            case Operation.ROUTE:
                return await self._route(snapshot, grant, on_text)
            case Operation.PROFILE:
                return await self._profile(snapshot, grant)
            case Operation.PLAN:
                return await self._plan(snapshot, grant, on_progress)
            case Operation.EVALUATE:
                return await self._evaluate(snapshot, grant)
            case Operation.REFINE:
                return await self._refine(snapshot, grant)
            case Operation.ANSWER:
                answer = await self.answerer.compose(snapshot, grant, on_text)
                return (e.AnswerComposed(answer, grant.used),)
            case unknown:
                assert_never(unknown)

    async def conclude(
        self, operation: Operation, snapshot: RunSnapshot, problem: Problem, used: Amounts
    ) -> e.EventKind:
        match operation:
            case Operation.RESOLVE:
                return e.ReferencesResolved(snapshot.request.text, snapshot.request.text, used=used)
            case Operation.ROUTE:
                return e.RouteChosen(Route.PLAN, used=used)
            case Operation.PROFILE:
                return e.ProfileInferred(DEFAULT_PROFILE, True, used)
            case Operation.PLAN:
                return e.PlanningFailed(problem, used)
            case Operation.EVALUATE:
                return e.PassEvaluated(Evaluation(snapshot.pass_index, False, (problem.reason,)), used)
            case Operation.REFINE:
                return _refined(Refinement(snapshot.plan or Plan("")), used)
            case Operation.ANSWER:
                answer = await self.answerer.compose(snapshot, Grant(Amounts()), discard_text)
                return e.AnswerComposed(answer, used)
            case unknown:
                assert_never(unknown)

    async def _resolve(self, snapshot: RunSnapshot, grant: Grant) -> tuple[e.EventKind, ...]:
        said = snapshot.request.text
        found = (await _twice_at_most(lambda: self.references.resolve(snapshot, grant))).value
        resolved = e.ReferencesResolved(
            said, found.text, found.context, grant.used, found.note, found.standing, found.taint
        )
        return (resolved,)

    async def _route(self, snapshot: RunSnapshot, grant: Grant, on_text: TextSink) -> tuple[e.EventKind, ...]:
        shown = await self.tools.choose(snapshot)
        showing = replace(snapshot, shown=shown)
        choice = (await _twice_at_most(lambda: self.router.choose(showing, grant, on_text))).value
        chosen = e.RouteChosen(choice.route, choice.tool_call, grant.used, shown)
        if choice.answer is not None:
            return (chosen, e.AnswerComposed(choice.answer))
        if choice.route is not Route.DIRECT or choice.tool_call is None:
            return (chosen,)
        step = PlanStep("s1", f"call {choice.tool_call.tool}", choice.tool_call)
        return (chosen, e.PlanAdopted(Plan(snapshot.text, (step,)), PlanSource.MODEL))

    async def _profile(self, snapshot: RunSnapshot, grant: Grant) -> tuple[e.EventKind, ...]:
        ok, profile, _ = await _twice_at_most(lambda: self.depth.infer(snapshot, grant))
        inferred = e.ProfileInferred(profile, not ok, grant.used)
        if not ok:  # no profile to derive a budget from: the requested one stays
            return (inferred,)
        allocated = self.depth.allocate(profile, snapshot.bound)
        budget = at_least(allocated, committed(snapshot, grant.used), snapshot.bound)
        if budget == snapshot.ledger.limit:
            return (inferred,)
        return (inferred, e.BudgetAdjusted(budget, ("PROFILE",)))

    async def _plan(
        self, snapshot: RunSnapshot, grant: Grant, on_progress: ProgressSink
    ) -> tuple[e.EventKind, ...]:
        ok, draft, problem = await _twice_at_most(lambda: self.planner.draft(snapshot, grant, on_progress))
        if not ok:
            return (e.PlanningFailed(problem, grant.used),)
        return (e.PlanAdopted(draft.plan, PlanSource.MODEL, grant.used, draft.repairs),)

    async def _evaluate(self, snapshot: RunSnapshot, grant: Grant) -> tuple[e.EventKind, ...]:
        judgement = (await _twice_at_most(lambda: self.evaluator.evaluate(snapshot, grant))).value
        evaluated = e.PassEvaluated(judgement.evaluation, grant.used)
        if judgement.evaluation.converged or not judgement.actions:
            return (evaluated,)
        return (evaluated, _refined(self.refiner.apply(snapshot, judgement.actions), Amounts()))

    async def _refine(self, snapshot: RunSnapshot, grant: Grant) -> tuple[e.EventKind, ...]:
        judged = snapshot.evaluation
        stuck = judged is not None and STUCK in judged.reasons
        if stuck or _ANOTHER_PASS.exceeding(snapshot.ledger.left):  # nothing would come of it: phase E
            return (_refined(Refinement(snapshot.plan or Plan("")), grant.used),)
        refinement = (await _twice_at_most(lambda: self.refiner.refine(snapshot, grant))).value
        refined = _refined(refinement, grant.used)
        adapted = self.depth.adapt(snapshot) if refinement.applied else None
        if adapted is None:
            return (refined,)
        profile, budget, reasons = adapted
        budget = at_least(budget, committed(snapshot, grant.used), snapshot.bound)
        return (refined, e.BudgetAdjusted(budget, reasons, profile))


async def _twice_at_most(ask: Callable[[], Awaitable[Outcome[T]]]) -> Outcome[T]:
    """What a part gives; a retryable failure is tried exactly once more.

    If both tries fail, the first problem is reported: a lack of budget for the second try says less.
    """
    outcome = await ask()
    if outcome.ok or not outcome.cause.retryable:
        return outcome
    again = await ask()
    return again if again.ok else replace(again, problem=outcome.problem)


def _refined(refinement: Refinement, used: Amounts) -> e.PlanRefined:
    return e.PlanRefined(refinement.plan, refinement.applied, refinement.skipped, used)
