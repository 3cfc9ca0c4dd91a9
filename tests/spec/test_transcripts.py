"""The kernel as transcripts: events after `>>`, commands after `<<`."""

from dataclasses import replace

import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.commands import ExecuteStep, Interrupt, Operate, Record
from aeond.domain.runs.reservations import (
    AGENT_STEP,
    ANSWERING,
    ASKING_TOOL_STEP,
    NOTHING,
    PLANNING,
    TOOL_STEP,
)
from aeond.domain.runs.run import (
    Answer,
    Operation,
    Owner,
    Phase,
    PlanSource,
    Resolution,
    RunRequest,
    RunState,
)
from aeond.domain.tools import Recovery, ToolCall
from aeond.errors import ReplayError
from aeond.state_machine.fold import fold
from tests.support.playbook import (
    CHAIN,
    WAIT,
    Playbook,
    asked,
    created,
    ended,
    executing,
    plan,
    started,
    tool_step,
)


def test_a_request_is_planned_executed_and_answered() -> None:
    """A request without a plan goes through planning, its steps in order, and an answer to its end."""
    s1, s2 = CHAIN
    (
        Playbook()
        >> created()
        << Record(e.RunStarted())
        >> e.RunStarted()
        << Operate(Operation.PLAN, PLANNING)
        >> e.PlanningStarted(PLANNING)
        << WAIT
        >> e.PlanAdopted(CHAIN, PlanSource.MODEL, Amounts(llm_calls=1, tokens=500))
        << Record(e.PassStarted(1))
        >> e.PassStarted(1)
        << ExecuteStep("s1", TOOL_STEP)
        >> started(s1)
        << WAIT
        >> ended("s1")
        << ExecuteStep("s2", TOOL_STEP)
        >> started(s2)
        >> ended("s2")
        << Record(e.PassEnded(1))
        >> e.PassEnded(1)
        << Operate(Operation.ANSWER, ANSWERING)
        >> e.AnswerStarted(ANSWERING)
        << WAIT
        >> e.AnswerComposed(Answer("done"))
        << Record(e.RunEnded(RunState.SUCCEEDED))
        >> e.RunEnded(RunState.SUCCEEDED)
        << WAIT
    )


def test_a_given_plan_is_neither_planned_nor_polished() -> None:
    """A plan from the client starts at once and is answered without a model."""
    (
        executing(plan(tool_step("s1")))
        << ExecuteStep("s1", TOOL_STEP)
        >> started(tool_step("s1"))
        >> ended("s1")
        >> e.PassEnded(1)
        << Operate(Operation.ANSWER, NOTHING)
    )


def test_ready_steps_start_together_up_to_the_limit() -> None:
    """Independent steps are asked for together, and never more at once than the run's limit."""
    wide = plan(tool_step("s1"), tool_step("s2"), tool_step("s3"))
    (
        executing(wide, parallel_steps=2)
        << (ExecuteStep("s1", TOOL_STEP), ExecuteStep("s2", TOOL_STEP))
        >> started(tool_step("s1"))
        << ExecuteStep("s2", TOOL_STEP)
        >> started(tool_step("s2"))
        << WAIT
        >> ended("s2")
        << ExecuteStep("s3", TOOL_STEP)
    )


def test_a_failed_step_skips_what_needs_it_and_nothing_else() -> None:
    """The dependents of a failed step are skipped all the way down while independent steps go on."""
    steps = plan(tool_step("s1"), tool_step("s2", "s1"), tool_step("s3", "s2"), tool_step("s4"))
    book = executing(steps) >> started(tool_step("s1")) >> ended("s1", StepState.FAILED)
    book << ExecuteStep("s4", TOOL_STEP)
    assert [s.state for s in book.run.steps.values()] == [
        StepState.FAILED,
        StepState.SKIPPED,
        StepState.SKIPPED,
        StepState.READY,
    ]


def test_a_run_with_a_failed_step_still_answers_and_says_what_is_missing() -> None:
    """A run that lost a step composes an answer and ends FAILED with the names of the steps."""
    (
        executing(plan(tool_step("s1")))
        >> started(tool_step("s1"))
        >> ended("s1", StepState.FAILED)
        >> e.PassEnded(1)
        >> e.AnswerStarted(NOTHING)
        >> e.AnswerComposed(Answer("what there is"))
        << Record(e.RunEnded(RunState.FAILED, Problem("STEPS_FAILED", "steps without a result: s1")))
    )


def test_failed_planning_is_answered_without_a_model() -> None:
    """A run that could not be planned answers from nothing and ends with the planner's problem."""
    problem = Problem("NO_PLAN", "there is no plan")
    (
        Playbook()
        >> created()
        >> e.RunStarted()
        >> e.PlanningStarted(PLANNING)
        >> e.PlanningFailed(problem)
        << Operate(Operation.ANSWER, NOTHING)
        >> e.AnswerStarted(NOTHING)
        >> e.AnswerComposed(Answer("sorry"))
        << Record(e.RunEnded(RunState.FAILED, problem))
    )


def test_a_repaired_step_is_executed_again_under_its_new_form() -> None:
    """A step that comes back repaired is ready again, its ttl untouched, and runs as repaired."""
    repaired = PlanStep("s1", "do s1", tool_call=ToolCall("now"))
    book = (
        executing(plan(tool_step("s1")))
        >> e.StepStarted(tool_step("s1"), 1, StepMode.REPAIR, Recovery.RERUN, TOOL_STEP)
        >> e.StepRepaired(repaired, Problem("STEP_MENDED", "no such tool"), Amounts(llm_calls=1, tokens=9))
        << ExecuteStep("s1", TOOL_STEP)
    )
    assert book.run.plan == plan(repaired)
    assert book.run.ledger.used == Amounts(llm_calls=1, tokens=9, passes=1)


def test_cancelling_cuts_what_is_harmless_and_waits_for_effects() -> None:
    """A cancelled run interrupts harmless steps, lets a step with effects end, and then is CANCELLED."""
    pair = plan(tool_step("s1"), tool_step("s2"))
    (
        executing(pair)
        >> started(tool_step("s1"))
        >> started(tool_step("s2"), Recovery.ASK)
        >> e.CancelRequested(Owner(1, 2))
        << Interrupt(("s1",), operation=False)
        >> ended("s1", StepState.SKIPPED)
        << Interrupt((), operation=False)
        >> ended("s2")
        << Record(e.RunEnded(RunState.CANCELLED))
    )


def test_cancelling_while_planning_cuts_the_planning() -> None:
    """A run that is cancelled while it is planned interrupts the planning and ends."""
    (
        Playbook()
        >> created()
        >> e.RunStarted()
        >> e.PlanningStarted(PLANNING)
        >> e.CancelRequested(Owner())
        << Interrupt((), operation=True)
        >> e.PlanningFailed(Problem("INTERRUPTED", "cut"))
        << Record(e.RunEnded(RunState.CANCELLED))
    )


def test_a_pending_run_can_be_cancelled() -> None:
    """A run that has not begun is cancelled without doing anything."""
    Playbook() >> created() >> e.CancelRequested(Owner()) << Record(e.RunEnded(RunState.CANCELLED))


def test_the_last_step_that_the_budget_allows_is_the_last() -> None:
    """With one step execution left, the second step is not started and the run expires with an answer."""
    short = Playbook() >> created(CHAIN, Budget(ttl=1)) >> e.RunStarted() >> e.PassStarted(1)
    (
        short
        << ExecuteStep("s1", TOOL_STEP)
        >> started(tool_step("s1"))
        >> ended("s1")
        << Record(e.BudgetExhausted("ttl"))
        >> e.BudgetExhausted("ttl")
        << Operate(Operation.ANSWER, NOTHING)
        >> e.AnswerStarted(NOTHING)
        >> e.AnswerComposed(Answer("half"))
        << Record(
            e.RunEnded(RunState.EXPIRED, Problem("BUDGET_EXHAUSTED", "the run's budget for ttl is exhausted"))
        )
    )
    assert short.run.steps["s2"].state is StepState.SKIPPED


@pytest.mark.parametrize(
    ("tokens", "next_kind"), [(100, e.BudgetExhausted("tokens")), (50_000, e.PassEnded(1))]
)
def test_a_step_that_lacked_tokens_ends_a_run_that_lacks_them(tokens: int, next_kind: e.EventKind) -> None:
    """A step whose prompt did not fit expires a run with less left than a step may take; one that has enough goes on."""
    only = plan(PlanStep("s1", "think", agent="llm"))
    reservation = AGENT_STEP.at_most(Amounts(ttl=1, llm_calls=3, tokens=tokens))
    spent = e.StepEnded("s1", StepState.FAILED, StepMode.AGENT, reason="BUDGET_SPENT", used=Amounts(ttl=1))
    (
        Playbook()
        >> created(only, Budget(tokens=tokens))
        >> e.RunStarted()
        >> e.PassStarted(1)
        >> e.StepStarted(only.step("s1"), 1, StepMode.AGENT, Recovery.RERUN, reservation)
        >> spent
        << Record(next_kind)
    )


def test_a_reservation_is_waited_for_before_the_budget_counts_as_spent() -> None:
    """While a running step still holds a reservation, the next step waits instead of treating the budget as spent."""
    pair = plan(PlanStep("s1", "think", agent="llm"), PlanStep("s2", "think", agent="llm"))
    reservation = Amounts(ttl=1, llm_calls=3, tokens=100)
    (
        Playbook()
        >> created(pair, Budget(tokens=100))
        >> e.RunStarted()
        >> e.PassStarted(1)
        << ExecuteStep("s1", reservation)
        >> e.StepStarted(pair.step("s1"), 1, StepMode.AGENT, Recovery.RERUN, reservation)
        << WAIT
        >> e.StepEnded("s1", StepState.SUCCEEDED, StepMode.AGENT, used=Amounts(ttl=1, llm_calls=1, tokens=40))
        << ExecuteStep("s2", Amounts(ttl=1, llm_calls=3, tokens=60))
    )


def test_out_of_time_cuts_reasoning_and_answers() -> None:
    """When the wall time runs out, steps that are safe to interrupt are cut and the answer is made without a model."""
    (
        executing(CHAIN)
        >> started(tool_step("s1"))
        >> e.BudgetExhausted("wall_seconds")
        << Interrupt(("s1",), operation=False)
        >> ended("s1", StepState.SKIPPED)
        << Operate(Operation.ANSWER, NOTHING)
    )


def test_out_of_time_no_model_is_asked_any_more() -> None:
    """A step that asks a person after the wall time was over leaves no open question: the run goes to its answer."""
    (
        executing(CHAIN)
        >> started(tool_step("s1"), Recovery.ASK)
        >> e.BudgetExhausted("wall_seconds")
        << Interrupt((), operation=False)
        >> asked("s1")
        << Record(e.BudgetExhausted("wall_seconds"))
        >> e.BudgetExhausted("wall_seconds")
        << Operate(Operation.ANSWER, NOTHING)
    )


def test_an_agent_step_reserves_no_tool_call() -> None:
    """A reasoning step reserves model calls and tokens but no tool call."""
    executing(plan(PlanStep("s1", "think", agent="llm"))) << ExecuteStep("s1", AGENT_STEP)


@pytest.mark.parametrize(
    "impossible",
    [
        e.RunCreated(RunRequest("again"), Budget()),
        e.StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL),
        e.StepStarted(tool_step("s2", "s1"), 1, StepMode.TOOL, Recovery.RERUN, TOOL_STEP),
        e.StepStarted(tool_step("s9"), 1, StepMode.TOOL, Recovery.RERUN, TOOL_STEP),
        e.StepStarted(tool_step("s1"), 1, StepMode.TOOL, Recovery.RERUN, Amounts(ttl=51)),
        e.StepResolved(Resolution.DONE, Owner(), "s1"),
        e.RunEnded(RunState.RUNNING),
        e.RunStarted(),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_an_impossible_event_is_rejected(impossible: e.EventKind) -> None:
    """An event that the run's state, its steps or its ledger do not admit is a ReplayError."""
    book = executing(CHAIN)
    with pytest.raises(ReplayError):
        book >> impossible


def test_using_more_than_was_reserved_is_refused() -> None:
    """A step that claims more than its reservation is a ReplayError, not an overshot budget."""
    book = executing(CHAIN) >> started(tool_step("s1"))
    with pytest.raises(ReplayError):
        book >> e.StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL, used=Amounts(ttl=2))


def test_events_of_a_run_have_no_gaps() -> None:
    """An event that does not follow the last one in number is refused."""
    book = executing(CHAIN)
    with pytest.raises(ReplayError):
        fold(book.run, e.Event("run", book.run.seq + 2, 0.0, 0.0, e.PassEnded(1)))


def test_the_phase_follows_the_work() -> None:
    """A run is in its plan phase first, then executes, then answers, and is in none when it has ended."""
    book = Playbook() >> created() >> e.RunStarted()
    phases = [book.run.phase]
    book >> e.PlanningStarted(PLANNING) >> e.PlanAdopted(plan(tool_step("s1")), PlanSource.MODEL)
    phases.append(book.run.phase)
    book >> e.PassStarted(1) >> started(tool_step("s1")) >> ended("s1") >> e.PassEnded(1)
    phases.append(book.run.phase)
    book >> e.AnswerStarted(NOTHING) >> e.AnswerComposed(Answer("x")) >> e.RunEnded(RunState.SUCCEEDED)
    assert [*phases, book.run.phase] == [Phase.PLAN, Phase.EXECUTE, Phase.ANSWER, None]


def test_a_tool_that_asks_the_model_reserves_more() -> None:
    """A step of such a tool reserves the calls and tokens that it may use, as far as they are left."""
    step = PlanStep("s1", "change it", tool_call=ToolCall("rework"))
    for budget, reserved in (
        (Budget(), ASKING_TOOL_STEP),
        (Budget(tokens=900), replace(ASKING_TOOL_STEP, tokens=900)),
    ):
        known = replace(created(plan(step), budget), asking_tools=("rework",))
        book = Playbook() >> known >> e.RunStarted() >> e.PassStarted(1)
        book << ExecuteStep("s1", reserved)
