"""Phases B and C: whether a plan is worth running, and whether a pass gave what was asked for."""

from dataclasses import asdict
from typing import Final

from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.evaluations import Evaluation, Issue, Severity
from aeond.domain.plans.plan import Plan
from aeond.domain.plans.profiles import DEFAULT_PROFILE, ConfidenceLevel, Route, TaskProfile
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.values import JsonValue
from aeond.frozen import frozen
from aeond.orchestration.context.prompt_fitting import fit_prompt, room_in
from aeond.orchestration.evaluation.convergence import (
    ALL_STEPS_COMPLETE,
    STUCK,
    Scores,
    assess,
)
from aeond.orchestration.evaluation.issues import MAX_ISSUES, PassFacts, pass_facts, plan_issues
from aeond.orchestration.evaluation.judgement_schema import judgement_schema, read_issues, read_scores
from aeond.orchestration.evaluation.progress import executed_steps, stuck_in
from aeond.orchestration.interfaces import Evaluator, Judgement
from aeond.orchestration.planning.nesting import nested_in
from aeond.orchestration.prompts.evaluation_prompts import (
    pass_judging_messages,
    plan_judging_messages,
    results_length,
)
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.repair.supervisor import Supervisor

MAX_JUDGEMENT_TOKENS: Final = 400
JUDGEMENT_SECONDS: Final = 120.0  # a machine that takes longer is better served by the facts alone
MAX_PROMPT_TOKENS: Final = 5_000
MAX_RESULT_CHARS: Final = 6_000
DEEP: Final = 4  # the reasoning depth from which a plan is judged by the model before it runs

PLAN_VALID: Final = "PLAN_VALID"


@frozen
class EvaluatorByRoute:
    """Hands a run to the Evaluator of its route."""

    direct: Evaluator
    planned: Evaluator

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        judge = self.direct if snapshot.route is Route.DIRECT else self.planned
        return await judge.evaluate(snapshot, grant)


class PlanEvaluator:
    """The Evaluator of planned runs: facts first, a model only where they do not settle it.

    A plan that has not run is validated without a model; if it is sound and the task a deep one, the
    model is asked what else is wrong with it, once, and once more after each round that nested. A pass whose steps all gave their results,
    with nothing flagged, has converged; one that is stuck, or lacks a result that nothing made good, has
    not; none of these takes a call. Of any other the model gives scores and issues of what was executed.
    Where it cannot be asked, the facts alone are the judgement, and it is a conservative one.
    """

    def __init__(self, model: Supervisor, preamble: Preamble) -> None:
        self._model = model
        self._preamble = preamble

    async def evaluate(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        if snapshot.plan is None:
            problem = Problem("PLAN_MISSING", "there is no plan to judge")
            return failure(problem, Judgement(Evaluation(snapshot.pass_index, False, (problem.reason,))))
        if snapshot.pass_index == 0:
            return await self._judge_plan(snapshot, snapshot.plan, grant)
        return await self._judge_pass(snapshot, grant)

    async def _judge_plan(self, run: RunSnapshot, plan: Plan, grant: Grant) -> Outcome[Judgement]:
        tools = {spec.name for spec in self._preamble.specs(run)}
        found = plan_issues(plan, self._model.validator, tools)
        if found or not _is_deep(run.profile or DEFAULT_PROFILE) or _was_shown(run, plan):
            return success(Judgement(_of_plan(found)))
        messages = plan_judging_messages(run.text, plan, self._preamble.messages(run))
        schema = judgement_schema([step.step_id for step in plan], scored=False)
        said = await self._model.ask(messages, schema, MAX_JUDGEMENT_TOKENS, grant, JUDGEMENT_SECONDS)
        if not said.ok:
            return said.failed(Judgement(_of_plan(())))
        return success(Judgement(_of_plan(read_issues(said.value))))

    async def _judge_pass(self, run: RunSnapshot, grant: Grant) -> Outcome[Judgement]:
        facts = pass_facts(run)
        if facts.flawless:
            return success(Judgement(Evaluation(run.pass_index, True, (ALL_STEPS_COMPLETE,))))
        why = stuck_in(run)
        stuck = (Issue(STUCK, Severity.HIGH, "", why),) if why else ()
        if stuck or facts.lacking:
            return success(Judgement(_evaluation_of(run, None, (*stuck, *facts.issues))))
        said = await self._ask(run, facts, grant)
        if not said.ok:
            return said.failed(Judgement(_evaluation_of(run, None, facts.issues)))
        issues = (*facts.issues, *read_issues(said.value))
        return success(Judgement(_evaluation_of(run, read_scores(said.value), issues)))

    async def _ask(self, run: RunSnapshot, facts: PassFacts, grant: Grant) -> Outcome[JsonValue]:
        preamble = self._preamble.messages(run)

        def build(result_chars: int) -> tuple[Message, ...]:
            return pass_judging_messages(run, facts.issues, preamble, result_chars)

        room = min(room_in(grant, self._model.llm, MAX_JUDGEMENT_TOKENS), MAX_PROMPT_TOKENS)
        available = min(results_length(run), MAX_RESULT_CHARS)
        fitted = await fit_prompt(self._model.llm, build, available, room)
        if fitted.value is None:
            return fitted.failed(None)
        schema = judgement_schema([step.step_id for step in executed_steps(run)], scored=True)
        return await self._model.ask(
            fitted.value.messages, schema, MAX_JUDGEMENT_TOKENS, grant, JUDGEMENT_SECONDS
        )


def _evaluation_of(run: RunSnapshot, scores: Scores | None, issues: tuple[Issue, ...]) -> Evaluation:
    converged, reasons = assess(scores, issues)
    judged = {} if scores is None else asdict(scores)
    return Evaluation(run.pass_index, converged, reasons, issues[:MAX_ISSUES], **judged)


def _is_deep(profile: TaskProfile) -> bool:
    return profile.reasoning_depth >= DEEP or profile.confidence_requirement is ConfidenceLevel.HIGH


def _was_shown(run: RunSnapshot, plan: Plan) -> bool:
    """Whether the model has seen this plan: every refinement but a nesting changes a plan that it saw."""
    return run.refinement_count > len(nested_in(plan))


def _of_plan(issues: tuple[Issue, ...]) -> Evaluation:
    """Issues that are no more than LOW do not keep a plan from running."""
    severe = [issue for issue in issues if issue.severity is not Severity.LOW]
    reasons = tuple(dict.fromkeys(issue.reason for issue in severe)) or (PLAN_VALID,)
    return Evaluation(0, not severe, reasons, issues)
