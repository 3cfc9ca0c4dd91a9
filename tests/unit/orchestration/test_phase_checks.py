from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.plan import Plan
from aeond.domain.plans.profiles import Route, TaskProfile
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget, BudgetLedger
from aeond.domain.runs.run import Operation, PlanSource, RunRequest, RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.orchestration.phase_checks import Transition, committed, contract_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import calls, thinks

LOOK = calls("s1", "look", path="garden")
TELL = thinks("s2", "Tell it.", "s1")
JUDGED = Evaluation(1, False)
PASS = after_pass(1, ran(LOOK, error="no garden"), ran(TELL), evaluation=JUDGED)
PLAN = Plan("a goal", (LOOK, TELL))
BUDGET = Budget()


@pytest.mark.parametrize(
    ("operation", "pass_index", "transition"),
    [
        (Operation.RESOLVE, 0, Transition.A_TO_B),
        (Operation.ROUTE, 0, Transition.A_TO_B),
        (Operation.PROFILE, 0, Transition.A_TO_B),
        (Operation.PLAN, 0, Transition.B_TO_C),
        (Operation.EVALUATE, 0, Transition.B_TO_C),
        (Operation.REFINE, 0, Transition.B_TO_C),
        (Operation.EVALUATE, 1, Transition.C_TO_D),
        (Operation.REFINE, 1, Transition.D_TO_NEXT_PASS),
    ],
)
def test_every_operation_before_the_answer_is_under_a_contract(
    operation: Operation, pass_index: int, transition: Transition
) -> None:
    """Each operation belongs to one of the four transitions; judging and refining to two, by the pass."""
    contract = contract_of(operation, replace(PASS, pass_index=pass_index))
    assert contract is not None
    assert contract.transition is transition


def test_the_answer_is_under_none() -> None:
    """Phase E has nothing that it needs and nothing that could stop it."""
    contract = contract_of(Operation.ANSWER, PASS)
    assert (contract.requires, contract.guarantees) == ({}, {})


@pytest.mark.parametrize(
    ("operation", "run", "lacking"),
    [
        (Operation.PROFILE, replace(PASS, request=RunRequest("  ")), "a request"),
        (Operation.PLAN, replace(PASS, request=RunRequest("")), "a request"),
        (Operation.EVALUATE, replace(PASS, pass_index=0, plan=None), "a plan"),
        (Operation.EVALUATE, replace(PASS, plan=Plan("x")), "a plan"),
        (Operation.EVALUATE, replace(PASS, pass_open=True), "a pass that is over"),
        (Operation.REFINE, replace(PASS, evaluation=None), "an evaluation of the last pass"),
        (Operation.REFINE, replace(PASS, evaluation=Evaluation(0, False)), "an evaluation of the last pass"),
        (Operation.REFINE, replace(PASS, evaluation=Evaluation(1, True)), "a pass that has not converged"),
    ],
)
def test_missing_inputs_are_named(operation: Operation, run: RunSnapshot, lacking: str) -> None:
    """An operation without its inputs is refused with what is missing, and trying again is no use."""
    contract = contract_of(operation, run)
    assert contract is not None
    problem = contract.missing(run)
    assert problem is not None
    assert problem.reason == "INPUT_MISSING"
    assert problem.message == f"{contract.transition} needs {lacking}"
    assert not problem.retryable


@pytest.mark.parametrize(
    "operation", [Operation.PROFILE, Operation.PLAN, Operation.EVALUATE, Operation.REFINE]
)
def test_with_its_inputs_an_operation_begins(operation: Operation) -> None:
    """A run in the right place has all that its transition needs."""
    contract = contract_of(operation, PASS)
    assert contract is not None
    assert contract.missing(PASS) is None


def refined(plan: Plan) -> e.PlanRefined:
    return e.PlanRefined(plan)


@pytest.mark.parametrize(
    ("operation", "events", "guarantee"),
    [
        (
            Operation.PROFILE,
            [e.ProfileInferred(TaskProfile(reasoning_depth=6))],
            "a profile within its scales",
        ),
        (Operation.PROFILE, [e.BudgetAdjusted(Budget(ttl=51))], "a budget within the run's bound"),
        (Operation.PROFILE, [e.BudgetAdjusted(Budget(wall_seconds=9e9))], "a budget within the run's bound"),
        (Operation.PROFILE, [e.BudgetAdjusted(Budget(wall_seconds=1.0))], "a budget within the run's bound"),
        (Operation.PROFILE, [e.BudgetAdjusted(Budget(tokens=899))], "a budget within the run's bound"),
        (Operation.ROUTE, [e.RouteChosen(Route.DIRECT)], "a tool call for DIRECT, and only for it"),
        (
            Operation.ROUTE,
            [e.RouteChosen(Route.REPLY, ToolCall("look"))],
            "a tool call for DIRECT, and only for it",
        ),
        (Operation.PLAN, [e.PlanAdopted(Plan("x"), PlanSource.MODEL)], "a plan that can run"),
        (Operation.PLAN, [e.PlanAdopted(Plan("x", (TELL,)), PlanSource.MODEL)], "a plan that can run"),
        (Operation.PLAN, [e.PlanAdopted(Plan("x", (LOOK, LOOK)), PlanSource.MODEL)], "a plan that can run"),
        (Operation.EVALUATE, [e.PassEvaluated(Evaluation(3, False))], "an evaluation of this pass"),
        (
            Operation.EVALUATE,
            [e.PassEvaluated(Evaluation(1, False, completeness=7))],
            "an evaluation of this pass",
        ),
        (Operation.REFINE, [refined(replace(PLAN, steps=(LOOK,)))], "executed steps as they were"),
        (
            Operation.REFINE,
            [refined(replace(PLAN, steps=(replace(LOOK, description="another"), TELL)))],
            "executed steps as they were",
        ),
        (
            Operation.REFINE,
            [refined(replace(PLAN, steps=(*PLAN.steps, thinks("s3", "Wait.", "s9"))))],
            "a plan that can run",
        ),
    ],
)
def test_a_broken_guarantee_is_named(operation: Operation, events: list[Any], guarantee: str) -> None:
    """Events after which the next phase could not work are refused with the guarantee that they break."""
    run = replace(PASS, ledger=BudgetLedger(BUDGET, Amounts(tokens=900)))
    contract = contract_of(operation, run)
    assert contract is not None
    problem = contract.broken(run, events)
    assert problem is not None
    assert problem.reason == "GUARANTEE_BROKEN"
    assert problem.message == f"{contract.transition} guarantees {guarantee}"
    assert not problem.retryable


def test_events_within_their_guarantees_pass() -> None:
    """The usual results of the phases keep all guarantees."""
    longer = replace(PLAN, steps=(*PLAN.steps, thinks("s3", "Tell it again.")))
    usual: tuple[tuple[Operation, list[Any]], ...] = (
        (Operation.PROFILE, [e.ProfileInferred(TaskProfile()), e.BudgetAdjusted(BUDGET)]),
        (Operation.PLAN, [e.PlanAdopted(PLAN, PlanSource.MODEL)]),
        (Operation.EVALUATE, [e.PassEvaluated(JUDGED), refined(longer)]),
        (Operation.REFINE, [refined(longer), e.BudgetAdjusted(BUDGET)]),
    )
    for operation, events in usual:
        contract = contract_of(operation, PASS)
        assert contract is not None
        assert contract.broken(PASS, events) is None


def test_committed_amounts_exclude_the_reservation_in_flight() -> None:
    """An operation counts with what it used, not with what was reserved for it."""
    ledger = BudgetLedger(BUDGET, Amounts(tokens=100), Amounts(tokens=12_050))
    run = replace(PASS, ledger=ledger, operation=Amounts(tokens=12_000))
    assert committed(run, Amounts(tokens=30)) == Amounts(tokens=180)
