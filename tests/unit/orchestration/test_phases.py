from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.evaluations import Evaluation, RefinementAction, RefinementOperation
from aeond.domain.plans.plan import Plan
from aeond.domain.plans.profiles import DEFAULT_PROFILE, Route, TaskProfile
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget, BudgetLedger, Grant
from aeond.domain.runs.run import Answer, Operation, PlanSource, RunRequest, RunSnapshot
from aeond.domain.tools import ToolCall
from aeond.orchestration.interfaces import Judgement, PlanDraft, Refinement, Resolved, RouteChoice
from aeond.orchestration.phases import PhaseOrchestrator
from tests.support.doubles import FixedPlanner, PlainAnswerer
from tests.support.judging import after_pass, ran
from tests.support.null_objects import AcceptAll, AlwaysPlan, AsSaid, FixedDepth, NeverRefine, ShowAll
from tests.support.strategy import calls, thinks

LOOK = calls("s1", "look", path="garden")
TELL = thinks("s2", "Tell it.", "s1")
PLAN = Plan("What grows in the garden?", (LOOK, TELL))
GONE = Problem("LLM_GONE", "the engine died", retryable=True)
WRONG = Problem("BAD_ANSWER", "not what was asked for")
PASS = after_pass(1, ran(LOOK, error="no garden"), ran(TELL), evaluation=Evaluation(1, False, ("X",)))
CALL = Amounts(llm_calls=1, tokens=10)


@dataclass
class ScriptedPart:
    """Any part of the phases: each call returns the next of the given outcomes."""

    outcomes: Sequence[Outcome[Any]]
    seen: list[RunSnapshot] = field(default_factory=list)
    shape: tuple[Budget, tuple[TaskProfile, Budget, tuple[str, ...]] | None] = (Budget(), None)
    applied: Refinement | None = None

    async def _next(self, snapshot: RunSnapshot, grant: Grant, *_: Any) -> Outcome[Any]:
        self.seen.append(snapshot)
        grant.take(CALL)
        return self.outcomes[min(len(self.seen), len(self.outcomes)) - 1]

    resolve = choose = infer = draft = evaluate = refine = _next

    def allocate(self, profile: TaskProfile, bound: Budget) -> Budget:
        return self.shape[0]

    def adapt(self, snapshot: RunSnapshot) -> tuple[TaskProfile, Budget, tuple[str, ...]] | None:
        return self.shape[1]

    def apply(self, snapshot: RunSnapshot, actions: Sequence[RefinementAction]) -> Refinement:
        return self.applied or Refinement(snapshot.plan or Plan(""))


def phases(**parts: Any) -> PhaseOrchestrator:
    """An orchestrator of null objects, except for the given parts."""
    return PhaseOrchestrator(
        **{
            "references": AsSaid(),
            "tools": ShowAll(),
            "router": AlwaysPlan(),
            "depth": FixedDepth(),
            "planner": FixedPlanner(PLAN),
            "evaluator": AcceptAll(),
            "refiner": NeverRefine(),
            "answerer": PlainAnswerer(),
            **parts,
        }
    )


def _as_part(name: str, scripted: ScriptedPart) -> dict[str, Any]:
    return {name: scripted}


async def perform(
    operation: Operation, run: RunSnapshot, purse: Grant | None = None, **parts: Any
) -> tuple[e.EventKind, ...]:
    return await phases(**parts).perform(
        operation, run, purse or Grant(Amounts(llm_calls=9, tokens=900)), lambda _: None, lambda *_: None
    )


BEGUN = replace(PASS, pass_index=0, evaluation=None)
FRESH = replace(BEGUN, plan=None, steps={})


# ---------------------------------------------------------------- what each operation gives


async def test_a_request_is_resolved_and_kept_as_it_was_said() -> None:
    """The event holds the original, the resolved text and the session's context."""
    run = replace(FRESH, request=RunRequest("And there?"))
    scripted = ScriptedPart([success(Resolved("What grows there?", "We spoke of the shed."))])
    (kind,) = await perform(Operation.RESOLVE, run, references=scripted)
    assert kind == e.ReferencesResolved("And there?", "What grows there?", "We spoke of the shed.", used=CALL)


async def test_a_reply_brings_its_answer() -> None:
    """A reply written while the request was routed is the run's answer, and paid for once."""
    answer = Answer("Roses.", synthesized=True)
    events = await perform(
        Operation.ROUTE, FRESH, router=ScriptedPart([success(RouteChoice(Route.REPLY, answer=answer))])
    )
    assert events == (e.RouteChosen(Route.REPLY, used=CALL), e.AnswerComposed(answer))


async def test_a_direct_route_brings_its_plan_of_one_step() -> None:
    """DIRECT is the choice and a plan with the call as its one step; the others are the choice alone."""
    call = ToolCall("look", {"path": "garden"})
    chosen, adopted = await perform(
        Operation.ROUTE, FRESH, router=ScriptedPart([success(RouteChoice(Route.DIRECT, call))])
    )
    assert chosen == e.RouteChosen(Route.DIRECT, call, CALL)
    assert isinstance(adopted, e.PlanAdopted)
    assert [step.tool_call for step in adopted.plan] == [call]
    for route in (Route.REPLY, Route.PLAN):
        (kind,) = await perform(Operation.ROUTE, FRESH, router=ScriptedPart([success(RouteChoice(route))]))
        assert kind == e.RouteChosen(route, used=CALL)


async def test_a_profile_brings_its_budget() -> None:
    """Another budget than there is comes as an event; the same one does not."""
    run = replace(FRESH, bound=Budget(), ledger=BudgetLedger())
    smaller = Budget(ttl=20)
    scripted = ScriptedPart([success(TaskProfile(2))], shape=(smaller, None))
    inferred, adjusted = await perform(Operation.PROFILE, run, depth=scripted)
    assert inferred == e.ProfileInferred(TaskProfile(2), False, CALL)
    assert adjusted == e.BudgetAdjusted(smaller, ("PROFILE",))
    assert len(await perform(Operation.PROFILE, run, depth=ScriptedPart([success(TaskProfile(2))]))) == 1


async def test_a_budget_is_never_allocated_below_what_is_committed() -> None:
    """A profile that would give less than is used and reserved gives that much."""
    run = replace(
        FRESH, bound=Budget(), ledger=BudgetLedger(used=Amounts(tokens=500), reserved=Amounts(tokens=70))
    )
    scripted = ScriptedPart([success(TaskProfile(1))], shape=(Budget(tokens=1), None))
    _, adjusted = await perform(Operation.PROFILE, replace(run, operation=Amounts(tokens=70)), depth=scripted)
    assert isinstance(adjusted, e.BudgetAdjusted)
    assert adjusted.budget.tokens == 510


async def test_a_profile_that_failed_is_the_default_and_says_so() -> None:
    """Without a profile the run goes on with an average one, and with the budget that it has."""
    scripted = ScriptedPart([failure(WRONG, DEFAULT_PROFILE)], shape=(Budget(ttl=20), None))
    kinds = await perform(Operation.PROFILE, FRESH, depth=scripted)
    assert kinds == (e.ProfileInferred(DEFAULT_PROFILE, True, CALL),)


async def test_a_budget_beyond_the_bound_is_the_bound_and_the_profile_stays() -> None:
    """An excessive budget is cut in each dimension, time and depth included; the inferred profile is kept."""
    run = replace(FRESH, bound=Budget(), ledger=BudgetLedger(Budget(ttl=20)))
    beyond = Budget(ttl=9_999, tokens=10**9, wall_seconds=10**6, depth=99)
    kinds = await perform(
        Operation.PROFILE, run, depth=ScriptedPart([success(TaskProfile(5))], shape=(beyond, None))
    )
    assert kinds == (
        e.ProfileInferred(TaskProfile(5), False, CALL),
        e.BudgetAdjusted(Budget(), ("PROFILE",)),
    )


async def test_a_plan_is_adopted_or_planning_has_failed() -> None:
    """A draft becomes the run's plan with its repairs; without a draft the problem is reported."""
    (kind,) = await perform(
        Operation.PLAN, FRESH, planner=ScriptedPart([success(PlanDraft(PLAN, ("repaired",)))])
    )
    assert kind == e.PlanAdopted(PLAN, PlanSource.MODEL, CALL, ("repaired",))
    (kind,) = await perform(Operation.PLAN, FRESH, planner=ScriptedPart([failure(WRONG, None)]))
    assert kind == e.PlanningFailed(WRONG, CALL)


async def test_a_judgement_may_bring_its_changes() -> None:
    """A pass judged not to converge is refined in the same operation if the judgement says how."""
    action = RefinementAction(RefinementOperation.ADD, "s3", thinks("s3", "Ask."))
    longer = replace(PLAN, steps=(*PLAN.steps, thinks("s3", "Ask.")))
    scripted = ScriptedPart([success(Judgement(Evaluation(1, False), (action,)))])
    refiner = ScriptedPart([], applied=Refinement(longer, (action,)))
    evaluated, changed = await perform(Operation.EVALUATE, PASS, evaluator=scripted, refiner=refiner)
    assert evaluated == e.PassEvaluated(Evaluation(1, False), CALL)
    assert changed == e.PlanRefined(longer, (action,))
    done = ScriptedPart([success(Judgement(Evaluation(1, True), (action,)))])
    assert len(await perform(Operation.EVALUATE, PASS, evaluator=done, refiner=refiner)) == 1


async def test_a_refinement_may_bring_another_budget() -> None:
    """Depth is adapted with the refinement that leads to another pass, and only with one that applied."""
    action = RefinementAction(RefinementOperation.ADD, "s3", thinks("s3", "Ask."))
    longer = replace(PLAN, steps=(*PLAN.steps, thinks("s3", "Ask.")))
    depth = ScriptedPart([], shape=(Budget(), (TaskProfile(4), Budget(ttl=40), ("DEEPER",))))
    scripted = ScriptedPart([success(Refinement(longer, (action,), (WRONG,)))])
    changed, adjusted = await perform(Operation.REFINE, PASS, refiner=scripted, depth=depth)
    assert changed == e.PlanRefined(longer, (action,), (WRONG,), CALL)
    assert adjusted == e.BudgetAdjusted(Budget(ttl=40), ("DEEPER",), TaskProfile(4))
    nothing = ScriptedPart([failure(WRONG, Refinement(PLAN))])
    assert await perform(Operation.REFINE, PASS, refiner=nothing, depth=depth) == (
        e.PlanRefined(PASS.plan or PLAN, used=CALL),
    )


async def test_a_stuck_run_is_not_refined() -> None:
    """More of the same is not asked for: the plan stays, and the run goes to its answer."""
    refiner = ScriptedPart([success(Refinement(PLAN))])
    run = replace(PASS, evaluation=Evaluation(1, False, ("STUCK",)))
    (kind,) = await perform(Operation.REFINE, run, refiner=refiner)
    assert kind == e.PlanRefined(run.plan or PLAN)
    assert refiner.seen == []


async def test_a_run_without_another_pass_is_not_refined() -> None:
    """With no pass or step execution left nothing could come of a change: the model is not asked for one."""
    refiner = ScriptedPart([success(Refinement(PLAN))])
    for used in (Amounts(passes=8), Amounts(ttl=50)):
        run = replace(PASS, ledger=BudgetLedger(Budget(), used))
        assert await perform(Operation.REFINE, run, refiner=refiner) == (e.PlanRefined(run.plan or PLAN),)
    assert refiner.seen == []


async def test_the_answer_comes_whatever_the_run_is_like() -> None:
    """Phase E answers a run that has nothing at all."""
    (kind,) = await perform(Operation.ANSWER, RunSnapshot("run"), Grant(Amounts()))
    assert isinstance(kind, e.AnswerComposed)
    assert kind.used == Amounts()


# ---------------------------------------------------------------- the transition contracts

OPERATIONS: list[tuple[Operation, str, RunSnapshot, Callable[[], Any]]] = [
    (Operation.RESOLVE, "references", FRESH, lambda: Resolved("x")),
    (Operation.ROUTE, "router", FRESH, lambda: RouteChoice(Route.PLAN)),
    (Operation.PROFILE, "depth", FRESH, TaskProfile),
    (Operation.PLAN, "planner", FRESH, lambda: PlanDraft(PLAN)),
    (Operation.EVALUATE, "evaluator", BEGUN, lambda: Judgement(Evaluation(0, True))),
    (Operation.EVALUATE, "evaluator", PASS, lambda: Judgement(Evaluation(1, True))),
    (Operation.REFINE, "refiner", PASS, lambda: Refinement(PLAN)),
]


@pytest.mark.parametrize(("operation", "part", "run", "value"), OPERATIONS)
async def test_a_retryable_failure_is_tried_exactly_once_more(
    operation: Operation, part: str, run: RunSnapshot, value: Callable[[], Any]
) -> None:
    """An engine that died is asked a second time and never a third, for the same run that began when it began."""
    recovers = ScriptedPart([failure(GONE, value()), success(value())])
    purse = Grant(Amounts(llm_calls=9, tokens=900))
    events = await perform(operation, run, purse, **_as_part(part, recovers))
    assert len(recovers.seen) == 2
    assert {(s.run_id, s.created_time) for s in recovers.seen} == {(run.run_id, run.created_time)}
    assert events[0].used == purse.used == CALL + CALL  # type: ignore[union-attr]  # ends of operations
    stays = ScriptedPart([failure(GONE, value())])
    await perform(operation, run, **_as_part(part, stays))
    assert len(stays.seen) == 2


@pytest.mark.parametrize(("operation", "part", "run", "value"), OPERATIONS)
async def test_another_failure_is_not_tried_again(
    operation: Operation, part: str, run: RunSnapshot, value: Callable[[], Any]
) -> None:
    """A call that would fail again is not repeated: the result is the fallback."""
    scripted = ScriptedPart([failure(WRONG, value())])
    events = await perform(operation, run, **_as_part(part, scripted))
    assert len(scripted.seen) == 1
    assert events


async def test_a_second_failure_is_reported_as_the_first() -> None:
    """That nothing is left to ask again with says less than why it was necessary."""
    scripted = ScriptedPart([failure(GONE, None), failure(Problem("BUDGET_SPENT", "nothing is left"), None)])
    (kind,) = await perform(Operation.PLAN, FRESH, planner=scripted)
    assert kind == e.PlanningFailed(GONE, CALL + CALL)


async def test_without_its_inputs_a_part_is_not_asked() -> None:
    """An evaluation of a pass that is still open gives the conservative one, without a call."""
    scripted = ScriptedPart([success(Judgement(Evaluation(1, True)))])
    (kind,) = await perform(Operation.EVALUATE, replace(PASS, pass_open=True), evaluator=scripted)
    assert kind == e.PassEvaluated(Evaluation(1, False, ("INPUT_MISSING",)))
    assert scripted.seen == []


@pytest.mark.parametrize(
    ("operation", "parts", "fallback"),
    [
        (
            Operation.PROFILE,
            {"depth": ScriptedPart([success(TaskProfile(9))])},
            e.ProfileInferred(DEFAULT_PROFILE, True, CALL),
        ),
        (
            Operation.PLAN,
            {"planner": ScriptedPart([success(PlanDraft(Plan("x")))])},
            e.PlanningFailed(Problem("GUARANTEE_BROKEN", "B>C guarantees a plan that can run"), CALL),
        ),
        (
            Operation.EVALUATE,
            {"evaluator": ScriptedPart([success(Judgement(Evaluation(4, True)))])},
            e.PassEvaluated(Evaluation(1, False, ("GUARANTEE_BROKEN",)), CALL),
        ),
        (
            Operation.REFINE,
            {"refiner": ScriptedPart([success(Refinement(Plan("x", (TELL,))))])},
            e.PlanRefined(PASS.plan or PLAN, used=CALL),
        ),
    ],
)
async def test_a_result_that_breaks_a_guarantee_is_replaced(
    operation: Operation, parts: dict[str, Any], fallback: e.EventKind
) -> None:
    """A part that gives what the next phase cannot work with is overruled, and what it used is counted."""
    run = FRESH if operation in (Operation.PROFILE, Operation.PLAN) else PASS
    assert await perform(operation, run, **parts) == (fallback,)


# ---------------------------------------------------------------- cut short


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (
            Operation.RESOLVE,
            e.ReferencesResolved("What grows in the garden?", "What grows in the garden?", used=CALL),
        ),
        (Operation.ROUTE, e.RouteChosen(Route.PLAN, used=CALL)),
        (Operation.PROFILE, e.ProfileInferred(DEFAULT_PROFILE, True, CALL)),
        (Operation.PLAN, e.PlanningFailed(WRONG, CALL)),
        (Operation.EVALUATE, e.PassEvaluated(Evaluation(1, False, ("BAD_ANSWER",)), CALL)),
        (Operation.REFINE, e.PlanRefined(PASS.plan or PLAN, used=CALL)),
    ],
)
async def test_an_operation_that_was_cut_short_ends(operation: Operation, kind: e.EventKind) -> None:
    """Without a model and without waiting, each operation has an event that ends it."""
    assert await phases().conclude(operation, PASS, WRONG, CALL) == kind


async def test_an_answer_that_was_cut_short_is_an_answer() -> None:
    """The answer is then composed from the steps, and earlier use counts."""
    kind = await phases().conclude(Operation.ANSWER, PASS, WRONG, CALL)
    assert isinstance(kind, e.AnswerComposed)
    assert kind.used == CALL
    assert "done" in kind.answer.text
