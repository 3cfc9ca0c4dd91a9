"""Refining: a plan is changed where it was found wanting, never made anew."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.budgets import Grant
from aeond.domain.evaluations import RefinementAction, Severity
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans import MAX_REFINEMENTS, Plan, PlanStep, nesting_of
from aeond.domain.profiles import Route
from aeond.domain.runs import RunSnapshot
from aeond.orchestration.changes import actions_from_model, changes_schema
from aeond.orchestration.constrained_asking import ConstrainedModel
from aeond.orchestration.contracts import Planner, Refinement
from aeond.orchestration.nesting import can_be_nested, nested_steps
from aeond.orchestration.preamble import Preamble
from aeond.orchestration.refinement import MAX_NESTING, apply_actions
from aeond.orchestration.refining_prompts import refining_messages

MAX_CHANGE_TOKENS: Final = 500
TOO_COARSE: Final = "SPECIFICITY"  # what a step is told for that says too little of how it is done


class ModelRefiner:
    """The Refiner over a model.

    A step of an agent that was found too vague gets a plan of its own; anything else is one constrained
    call for changes, with the issues told as what must be mended. The schema admits the ids that may change
    and the tools that there are; what comes back is applied as far as it is valid. A DIRECT run is not
    refined: its next call came with the evaluation.
    """

    def __init__(self, model: ConstrainedModel, preamble: Preamble, planner: Planner) -> None:
        self._model = model
        self._preamble = preamble
        self._planner = planner

    async def refine(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[Refinement]:
        unchanged = Refinement(snapshot.plan or Plan(""))
        if snapshot.plan is None or snapshot.route is Route.DIRECT:
            return success(unchanged)
        if snapshot.refinement_count >= MAX_REFINEMENTS:
            problem = Problem(
                "REFINEMENT_LIMIT", f"the plan was refined {MAX_REFINEMENTS} times: it goes as it is"
            )
            return failure(problem, replace(unchanged, skipped=(problem,)))
        coarse = _too_coarse(snapshot)
        asked = await (
            self._changes(snapshot, grant) if coarse is None else self._nested(snapshot, coarse, grant)
        )
        if not asked.ok:
            problem = asked.problem or Problem("NOT_REFINED", "the model gave no changes")
            return failure(problem, replace(unchanged, skipped=(problem,)))
        return success(self.apply(snapshot, asked.value))

    def apply(self, snapshot: RunSnapshot, actions: Sequence[RefinementAction]) -> Refinement:
        tools = {spec.name for spec in self._preamble.specs(snapshot)}
        return apply_actions(snapshot, actions, self._model.validator.validate_plan, tools)

    async def _changes(self, snapshot: RunSnapshot, grant: Grant) -> Outcome[tuple[RefinementAction, ...]]:
        specs = self._preamble.specs(snapshot)
        messages = refining_messages(snapshot, self._preamble.messages(snapshot))
        schema = changes_schema(snapshot, specs)
        asked = await self._model.ask(messages, schema, MAX_CHANGE_TOKENS, grant)
        if not asked.ok:
            return failure(asked.problem or Problem("NOT_REFINED", "the model gave no changes"), ())
        return success(actions_from_model(asked.value, snapshot, specs))

    async def _nested(
        self, snapshot: RunSnapshot, step: PlanStep, grant: Grant
    ) -> Outcome[tuple[RefinementAction, ...]]:
        # The planner sees the step as if it were the whole request.
        alone = replace(snapshot, resolved_text=step.description)
        drafted = await self._planner.draft(alone, grant, _unseen)
        if drafted.value is None:
            return failure(drafted.problem or Problem("NOT_REFINED", "no plan was made for it"), ())
        return success(tuple(nested_steps(step, drafted.value.plan)))


def _too_coarse(run: RunSnapshot) -> PlanStep | None:
    """The first step that is to be nested, if there is one that can be."""
    for issue in run.evaluation.issues if run.evaluation else ():
        current = run.steps.get(issue.step_id)
        if issue.reason != TOO_COARSE or issue.severity is Severity.LOW or current is None:
            continue
        nested_before = any(step_id.startswith(f"{issue.step_id}_") for step_id in run.steps)
        deep = nesting_of(issue.step_id) >= MAX_NESTING
        if not (current.executed or nested_before or deep) and can_be_nested(current.step):
            return current.step
    return None


def _unseen(activity: str, fraction: float) -> None:
    """A plan within a plan is part of refining, which is what is shown."""
