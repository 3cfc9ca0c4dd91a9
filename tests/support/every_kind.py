"""One event of every kind, each with every field that it can have."""

from collections.abc import Sequence

from aeond.domain.outcome import Problem
from aeond.domain.plans.approvals import ApprovalRequest, ApprovalScope, CallPreview
from aeond.domain.plans.evaluations import Evaluation, Issue, RefinementAction, RefinementOperation, Severity
from aeond.domain.plans.plan import Clarity, Plan, PlanStep, StepState
from aeond.domain.plans.profiles import Breadth, ConfidenceLevel, Route, TaskProfile, ToolUsage
from aeond.domain.plans.steps import StepMode
from aeond.domain.plans.subtasks import ChildRun, SubtaskRequest
from aeond.domain.policy import (
    Access,
    CallFacts,
    DecidedCall,
    Decision,
    Effect,
    Target,
    TargetKind,
    Verdict,
)
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.events import (
    AnswerComposed,
    AnswerStarted,
    ApprovalDecided,
    ApprovalRequested,
    BudgetAdjusted,
    BudgetExhausted,
    CancelRequested,
    ChildRunEnded,
    ChildRunStarted,
    EventKind,
    InputAnswered,
    InputRequested,
    OperationStarted,
    PassEnded,
    PassEvaluated,
    PassStarted,
    PlanAdopted,
    PlanningFailed,
    PlanningStarted,
    PlanRefined,
    PolicyDecided,
    ProfileInferred,
    ReferencesResolved,
    RouteChosen,
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
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import (
    Answer,
    Operation,
    Owner,
    PlanSource,
    Resolution,
    RunRequest,
    RunState,
    SuspendReason,
)
from aeond.domain.tools import RecordedEffect, Recovery, ToolCall

STEP = PlanStep(
    "s1", "add", ToolCall("calculator", {"expression": "1+1", "deep": [1, 2.5, {"a": None}]}, "c1")
)
PLAN = Plan("sum", (STEP, PlanStep("s2", "say it", agent="llm", depends_on=("s1",), errors=("no",))))
PROFILE = TaskProfile(4, 0.25, ToolUsage.EXTENSIVE, Breadth.BROAD, ConfidenceLevel.HIGH, "hard")
CHILD = ChildRun(
    "child",
    "summarise",
    Budget(ttl=2),
    SubtaskRequest("shorten it", {"text": "long"}, ("short",)),
    ("summarise:0",),
)
EFFECTS = (RecordedEffect("file.created", "größe.txt", "12 bytes"), RecordedEffect("fact.forgotten", "k"))
DECIDED = DecidedCall(
    CallFacts(
        "write_file",
        Effect.WRITE_CONTAINED,
        {"path": "größe.txt"},
        (Target(TargetKind.FILE, "/home/größe.txt", Access.WRITE, exists=False),),
        taint=("host:a",),
        uid=1,
        workspace="/home",
    ),
    Decision(Verdict.ASK, "builtin.tainted-change", "it is tainted", "ask-1"),
    ("file:/mnt/a",),
)
EVERY_KIND: Sequence[EventKind] = (
    RunCreated(
        RunRequest("1+1", "q1", "session", "/home", 2, Owner(1, 2), {"a": "b"}),
        Budget(ttl=3),
        PLAN,
        taint=("host:a",),
    ),
    RunStarted(),
    PlanningStarted(Amounts(llm_calls=1, tokens=500)),
    PlanningFailed(Problem("NO_PLAN", "none", "/steps/0", True), Amounts(llm_calls=1)),
    PlanAdopted(PLAN, PlanSource.MODEL, Amounts(tokens=20), ("a comma was added",)),
    PassStarted(1),
    StepStarted(STEP, 1, StepMode.TOOL, Recovery.ASK, Amounts(ttl=1)),
    PolicyDecided.of("s1", DECIDED),
    StepRepaired(STEP, Problem("NO_TOOL", "none"), Amounts(tokens=3)),
    StepEnded(
        "s1",
        StepState.SUCCEEDED,
        StepMode.AGENT,
        {"result": 2.0},
        clarity=Clarity.BLOCKED,
        handoff="2",
        effects=EFFECTS,
        taint=("memory:k",),
        rule="ask.reading",
        policy_version="ask-1",
    ),
    PassEnded(1),
    AnswerStarted(Amounts(llm_calls=1)),
    AnswerComposed(
        Answer("it is 2 ☃", ("s1",), 0.5, ("one step failed",), True, True, EFFECTS), Amounts(tokens=9)
    ),
    BudgetExhausted("tokens"),
    CancelRequested(Owner(1, 2), "enough"),
    RunParked(),
    RunResumed(),
    RunSuspended(SuspendReason.DISK_FULL, "no room"),
    StepResolved(Resolution.RETRY, Owner(1, 2), "s1"),
    RunEnded(RunState.FAILED, Problem("X", "y")),
    OperationStarted(Operation.ROUTE, Amounts(llm_calls=2)),
    ReferencesResolved(
        "is it?",
        "is the door open?",
        "the door was painted",
        Amounts(tokens=7),
        "no name",
        ("Never lock it.",),
        ("file:/mnt/a",),
    ),
    RouteChosen(Route.DIRECT, ToolCall("echo", {"text": "a"}), Amounts(tokens=8)),
    ProfileInferred(PROFILE, True, Amounts(llm_calls=1)),
    BudgetAdjusted(Budget(ttl=3), ("PROFILE",), PROFILE),
    PassEvaluated(
        Evaluation(
            1,
            False,
            ("STUCK",),
            (Issue("VAGUE", Severity.HIGH, "s1", "too vague", "say where"),),
            0.5,
            0.25,
            1.0,
            "so far",
        ),
        Amounts(tokens=5),
    ),
    PlanRefined(
        PLAN,
        (RefinementAction(RefinementOperation.REPLACE, "s2", PLAN.steps[1], "clearer"),),
        (Problem("STEP_UNKNOWN", "no s9"),),
        Amounts(tokens=6),
    ),
    InputRequested(
        Question("s1.1", "s1", InputRequest("which?", {"type": "string"}, ("a", "b"), "a", True, 60.0), 5.0),
        Amounts(ttl=1),
    ),
    InputAnswered("s1.1", {"chosen": "b"}, Owner(1, 2)),
    ApprovalRequested(
        "s1",
        ApprovalRequest(
            "s1.1",
            ("s1",),
            (STEP.tool_call or ToolCall("calculator"),),
            ("d1",),
            "d",
            "a rule asks",
            (CallPreview("+a\n", "/a", "/b", ("ls", "-l"), "example.org:443", "cut off"),),
            ("k1",),
            ("/",),
            ("example.org:443",),
            5.0,
            60.0,
            True,
        ),
        Amounts(ttl=1),
    ),
    ApprovalDecided("s1.1", True, Owner(1, 2), "d", ApprovalScope.FOLDER),
    ChildRunStarted("s1", CHILD, Amounts(ttl=1)),
    ChildRunEnded("s1", "child", RunState.EXPIRED, Amounts(tokens=50)),
)
