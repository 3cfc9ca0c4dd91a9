"""One event of every kind, each with every field that it can have."""

from collections.abc import Sequence

from aeond.domain.budgets import Amounts, Budget
from aeond.domain.events import (
    AnswerComposed,
    AnswerStarted,
    BudgetExhausted,
    CancelRequested,
    EventKind,
    PassEnded,
    PassStarted,
    PlanAdopted,
    PlanningFailed,
    PlanningStarted,
    RunCreated,
    RunEnded,
    RunParked,
    RunResumed,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepRepaired,
    StepResolved,
    StepStarted,
)
from aeond.domain.outcome import Problem
from aeond.domain.plans import Clarity, Plan, PlanStep, StepState
from aeond.domain.runs import Answer, Owner, PlanSource, Resolution, RunRequest, RunState, SuspendReason
from aeond.domain.steps import StepMode
from aeond.domain.tools import Recovery, ToolCall

STEP = PlanStep(
    "s1", "add", ToolCall("calculator", {"expression": "1+1", "deep": [1, 2.5, {"a": None}]}, "c1")
)
PLAN = Plan("sum", (STEP, PlanStep("s2", "say it", agent="llm", depends_on=("s1",), errors=("no",))))
EVERY_KIND: Sequence[EventKind] = (
    RunCreated(RunRequest("1+1", "q1", "session", "/home", 2, Owner(1, 2), {"a": "b"}), Budget(ttl=3), PLAN),
    RunStarted(),
    PlanningStarted(Amounts(llm_calls=1, tokens=500)),
    PlanningFailed(Problem("NO_PLAN", "none", "/steps/0", True), Amounts(llm_calls=1)),
    PlanAdopted(PLAN, PlanSource.MODEL, Amounts(tokens=20), ("a comma was added",)),
    PassStarted(1),
    StepStarted(STEP, 1, StepMode.TOOL, Recovery.ASK, Amounts(ttl=1)),
    StepRepaired(STEP, Problem("NO_TOOL", "none"), Amounts(tokens=3)),
    StepEnded(
        "s1", StepState.SUCCEEDED, StepMode.AGENT, {"result": 2.0}, clarity=Clarity.BLOCKED, handoff="2"
    ),
    PassEnded(1),
    AnswerStarted(Amounts(llm_calls=1)),
    AnswerComposed(Answer("it is 2 ☃", ("s1",), 0.5, ("one step failed",), True, True), Amounts(tokens=9)),
    BudgetExhausted("tokens"),
    CancelRequested(Owner(1, 2), "enough"),
    RunParked(),
    RunResumed(),
    RunSuspended(SuspendReason.DISK_FULL, "no room"),
    StepResolved(Resolution.RETRY, Owner(1, 2), "s1"),
    RunEnded(RunState.FAILED, Problem("X", "y")),
)
