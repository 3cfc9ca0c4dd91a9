"""What one phase owes the next: inputs and guarantees.

A run passes from A (profile) to B (draft and refine), to C (execute and judge), to D (refine and adapt),
and from there to its next pass. The owner and the start time of a run are in its snapshot, which is
immutable: they pass unchanged through every transition and every retry.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, assert_never

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.plan import Plan
from aeond.domain.plans.profiles import Route
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.run import Operation, RunSnapshot
from aeond.frozen import frozen
from aeond.orchestration.planning.step_graph import cycle_in
from aeond.state_machine.steps import refined

Check = Callable[[RunSnapshot], bool]
Keeps = Callable[[RunSnapshot, Sequence[e.EventKind]], bool]

INPUT_MISSING: Final = "INPUT_MISSING"
GUARANTEE_BROKEN: Final = "GUARANTEE_BROKEN"


class Transition(StrEnum):
    A_TO_B = "A>B"
    B_TO_C = "B>C"
    C_TO_D = "C>D"
    D_TO_NEXT_PASS = "D>next pass"
    TO_ANSWER = "E"


@frozen
class TransitionContract:
    """`requires` is checked before an operation, `guarantees` on the events that it ends with, each under its name."""

    transition: Transition
    requires: Mapping[str, Check]
    guarantees: Mapping[str, Keeps]

    def missing(self, run: RunSnapshot) -> Problem | None:
        """Why the operation cannot begin."""
        lacking = [name for name, there in self.requires.items() if not there(run)]
        if not lacking:
            return None
        return Problem(INPUT_MISSING, f"{self.transition} needs {', '.join(lacking)}")

    def broken(self, run: RunSnapshot, events: Sequence[e.EventKind]) -> Problem | None:
        """Which guarantee these events would break."""
        broken = [name for name, keeps in self.guarantees.items() if not keeps(run, events)]
        if not broken:
            return None
        return Problem(GUARANTEE_BROKEN, f"{self.transition} guarantees {', '.join(broken)}")


def contract_of(operation: Operation, run: RunSnapshot) -> TransitionContract:
    """The contract that an operation of this run is under; that of phase E is empty: it always answers.

    Judging and refining a plan before its first pass belongs to B.
    """
    match operation:
        case Operation.ANSWER:
            return _TO_ANSWER
        case Operation.RESOLVE | Operation.ROUTE | Operation.PROFILE:
            return _A_TO_B
        case Operation.PLAN:
            return _B_TO_C
        case Operation.EVALUATE:
            return _JUDGING_A_PLAN if run.pass_index == 0 else _C_TO_D
        case Operation.REFINE:
            return _JUDGING_A_PLAN if run.pass_index == 0 else _D_TO_NEXT_PASS
        case unknown:
            assert_never(unknown)


# ---------------------------------------------------------------- what is guaranteed


def committed(run: RunSnapshot, used: Amounts) -> Amounts:
    """What the run has used and reserved once its operation in flight is settled at `used`."""
    return run.ledger.used + run.ledger.reserved - (run.operation or Amounts()) + used


def _profile_within_scales(_: RunSnapshot, events: Sequence[e.EventKind]) -> bool:
    profiles = [x.profile for x in events if isinstance(x, e.ProfileInferred)]
    return all(1 <= p.reasoning_depth <= 5 and 0.0 <= p.information_sufficiency <= 1.0 for p in profiles)


def _budget_within_bounds(run: RunSnapshot, events: Sequence[e.EventKind]) -> bool:
    used = getattr(events[0], "used", Amounts()) if events else Amounts()
    needed, bound = committed(run, used), run.bound
    return all(
        not x.budget.amounts.exceeding(bound.amounts)
        and not needed.exceeding(x.budget.amounts)
        and x.budget.wall_seconds == bound.wall_seconds
        and x.budget.depth == bound.depth
        for x in events
        if isinstance(x, e.BudgetAdjusted)
    )


def _direct_has_its_call(_: RunSnapshot, events: Sequence[e.EventKind]) -> bool:
    chosen = [x for x in events if isinstance(x, e.RouteChosen)]
    return all((x.route is Route.DIRECT) == (x.tool_call is not None) for x in chosen)


def _plan_can_run(_: RunSnapshot, events: Sequence[e.EventKind]) -> bool:
    plans = [x.plan for x in events if isinstance(x, e.PlanAdopted | e.PlanRefined)]
    return all(_is_sound(plan) for plan in plans)


def _is_sound(plan: Plan) -> bool:
    ids = [step.step_id for step in plan]
    known = len(set(ids)) == len(ids) and all(name in ids for step in plan for name in step.depends_on)
    return bool(ids) and known and not cycle_in(plan)


def _executed_steps_stay(run: RunSnapshot, events: Sequence[e.EventKind]) -> bool:
    for kind in events:
        if isinstance(kind, e.PlanRefined):
            planned = {step.step_id: step for step in kind.plan}
            try:
                refined(run.steps, kind.plan)
            except ValueError:
                return False
            before = {step.step_id: step for step in run.plan or ()}
            executed = [s.step_id for s in run.steps.values() if s.executed]
            if any(planned.get(name) != before.get(name) for name in executed):
                return False
    return True


def _evaluation_is_of_this_pass(run: RunSnapshot, events: Sequence[e.EventKind]) -> bool:
    judged = [x.evaluation for x in events if isinstance(x, e.PassEvaluated)]
    return all(x.pass_index == run.pass_index and _scored(x) for x in judged)


def _scored(evaluation: Evaluation) -> bool:
    scores = (evaluation.completeness, evaluation.coherence, evaluation.consistency)
    return all(score is None or 0.0 <= score <= 1.0 for score in scores)


# ---------------------------------------------------------------- the contracts

_REQUEST: Final[Mapping[str, Check]] = {"a request": lambda run: bool(run.text.strip())}
_PLAN: Final[Mapping[str, Check]] = {"a plan": lambda run: run.plan is not None and bool(run.plan.steps)}
_SOUND_PLAN: Final[Mapping[str, Keeps]] = {
    "a plan that can run": _plan_can_run,
    "executed steps as they were": _executed_steps_stay,
    "a budget within the run's bound": _budget_within_bounds,
}
_JUDGED: Final[Mapping[str, Keeps]] = {"an evaluation of this pass": _evaluation_is_of_this_pass}

_A_TO_B: Final = TransitionContract(
    Transition.A_TO_B,
    requires=_REQUEST,
    guarantees={
        "a profile within its scales": _profile_within_scales,
        "a budget within the run's bound": _budget_within_bounds,
        "a tool call for DIRECT, and only for it": _direct_has_its_call,
        "a plan that can run": _plan_can_run,
    },
)
_B_TO_C: Final = TransitionContract(Transition.B_TO_C, requires=_REQUEST, guarantees=_SOUND_PLAN)
_JUDGING_A_PLAN: Final = TransitionContract(
    Transition.B_TO_C, requires={**_REQUEST, **_PLAN}, guarantees={**_JUDGED, **_SOUND_PLAN}
)
_C_TO_D: Final = TransitionContract(
    Transition.C_TO_D,
    requires={**_PLAN, "a pass that is over": lambda run: run.pass_index > 0 and not run.pass_open},
    guarantees={**_JUDGED, **_SOUND_PLAN},
)
_D_TO_NEXT_PASS: Final = TransitionContract(
    Transition.D_TO_NEXT_PASS,
    requires={
        **_PLAN,
        "an evaluation of the last pass": (
            lambda run: run.evaluation is not None and run.evaluation.pass_index == run.pass_index
        ),
        "a pass that has not converged": lambda run: run.evaluation is None or not run.evaluation.converged,
    },
    guarantees=_SOUND_PLAN,
)
_TO_ANSWER: Final = TransitionContract(Transition.TO_ANSWER, requires={}, guarantees={})
