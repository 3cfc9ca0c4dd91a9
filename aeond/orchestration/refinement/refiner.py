"""Refines a plan: changes the parts that have issues and never replaces the whole."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.evaluations import RefinementAction, Severity
from aeond.domain.plans.plan import MAX_REFINEMENTS, Plan, PlanStep, fragment_of, nesting_of
from aeond.domain.plans.profiles import Route
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.orchestration.interfaces import Planner, Refinement
from aeond.orchestration.planning.nesting import can_be_nested, nested_in, nested_steps
from aeond.orchestration.prompts.evaluation_prompts import refining_messages
from aeond.orchestration.prompts.preamble import Preamble
from aeond.orchestration.refinement.actions import MAX_FRAGMENT_ROUNDS, MAX_NESTING, apply_actions
from aeond.orchestration.refinement.change_schema import actions_from_model, changes_schema
from aeond.orchestration.repair.supervisor import Supervisor

MAX_CHANGE_TOKENS: Final = 500
TOO_COARSE: Final = "SPECIFICITY"  # reason of the issue that a step is too vague about how it is done


class ModelRefiner:
    """The Refiner over a model.

    One step of an agent that was found too vague gets a plan of its own; the evaluator then judges the plan
    again and reports any remaining issues. Where there is no such step, or no plan for it, one constrained
    call asks for changes that fix the listed issues. The schema admits the ids that may change
    and the tools that there are; what comes back is applied as far as it is valid. A DIRECT run is not
    refined: its next call came with the evaluation.
    """

    def __init__(self, model: Supervisor, preamble: Preamble, planner: Planner) -> None:
        self._model = model
        self._preamble = preamble
        self._planner = planner

    async def refine(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Refinement]:
        unchanged = Refinement(snapshot.plan or Plan(""))
        if snapshot.plan is None or snapshot.route is Route.DIRECT:
            return success(unchanged)
        if snapshot.refinement_count >= MAX_REFINEMENTS:
            problem = Problem(
                "REFINEMENT_LIMIT", f"the plan was refined {MAX_REFINEMENTS} times: it is executed unchanged"
            )
            return failure(problem, replace(unchanged, skipped=(problem,)))
        problems: tuple[Problem, ...] = ()
        for step in _too_coarse(snapshot, snapshot.plan):
            nested = await self._nested(snapshot, snapshot.plan, step, grant)
            if nested.applied:
                return success(nested)
            problems += nested.skipped
        asked = await self._changes(snapshot, grant)
        if not asked.ok:
            return asked.failed(replace(unchanged, skipped=(*problems, asked.cause)))
        refined = self.apply(snapshot, asked.value)
        return success(replace(refined, skipped=(*problems, *refined.skipped)))

    def apply(self, snapshot: RunSnapshot, actions: Sequence[RefinementAction]) -> Refinement:
        tools = {spec.name for spec in self._preamble.specs(snapshot)}
        return apply_actions(snapshot, actions, self._model.validator.validate_plan, tools)

    async def _changes(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[tuple[RefinementAction, ...]]:
        specs = self._preamble.specs(snapshot)
        messages = refining_messages(snapshot, self._preamble.messages(snapshot))
        schema = changes_schema(snapshot, specs)
        asked = await self._model.ask(messages, schema, MAX_CHANGE_TOKENS, grant)
        if not asked.ok:
            return asked.failed(())
        return success(actions_from_model(asked.value, snapshot, specs))

    async def _nested(self, snapshot: RunSnapshot, plan: Plan, step: PlanStep, grant: Grant) -> Refinement:
        """A plan of its own in the step's place, as a whole or not at all."""
        # The planner sees the step as if it were the whole request. Its progress is not shown: it is a part of refining.
        alone = replace(snapshot, resolved_text=step.description)
        drafted = await self._planner.draft(alone, grant, lambda _activity, _fraction: None)
        if drafted.value is None or len(drafted.value.plan.steps) < 2:  # one step says no more than it did
            problem = drafted.problem or Problem("NOT_NESTED", f"{step.step_id} is one step")
            return Refinement(plan, skipped=(problem,))
        nested = self.apply(snapshot, tuple(nested_steps(step, drafted.value.plan)))
        return Refinement(plan, skipped=nested.skipped) if nested.skipped else nested


def _too_coarse(run: RunSnapshot, plan: Plan) -> Iterator[PlanStep]:
    """The steps that are to be nested and can be, as they were found."""
    nested = nested_in(plan)
    for issue in run.evaluation.issues if run.evaluation else ():
        current = run.steps.get(issue.step_id)
        if issue.reason != TOO_COARSE or issue.severity is Severity.LOW or current is None:
            continue
        done = current.executed or issue.step_id in nested
        deep = nesting_of(issue.step_id) >= MAX_NESTING
        often = run.refinements.get(fragment_of(issue.step_id), 0) >= MAX_FRAGMENT_ROUNDS
        if not (done or deep or often) and can_be_nested(current.step, run.steps):
            yield current.step
