"""Every state of the web page that is a state of a run, as the events of the run, and the lists of the history."""

from collections.abc import Sequence
from dataclasses import replace

from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    ChildRunStarted,
    EventKind,
    InputRequested,
    PassStarted,
    PlanAdopted,
    PlanningStarted,
    Progress,
    Queued,
    RunCreated,
    RunEnded,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepStarted,
    TextDelta,
)
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.runs import (
    Amounts,
    Answer,
    Plan,
    PlanStep,
    Problem,
    RunState,
    RunSummary,
    StepState,
)
from aeond_client.records.tools import RecordedEffect, ToolCall

Item = EventKind | tuple[str, EventKind]
"""An event of the run, or one of a run below it with the id of that run."""

NOW = 1_800_000_000.0

TEXT = "Compare last week's test runs and write a report for Marta"
STEPS = (
    PlanStep("s1", "Read Monday's log", "read_file", {"path": "logs/monday.txt"}),
    PlanStep("s2", "Read Friday's log", "read_file", {"path": "logs/friday.txt"}),
    PlanStep("s3", "Find the open questions", "search_text", {"text": "flaky"}),
    PlanStep("s4", "Compare the failures", agent="llm", depends_on=("s1", "s2")),
    PlanStep("s5", "Write the report", "write_file", {"path": "report.md"}, depends_on=("s3", "s4")),
)
ANSWER = """**Three tests became stable, one is still flaky.** The report is in `report.md`.

| Test | Monday | Friday |
| --- | --- | --- |
| storms | 12 failures | 0 |
| restart | 3 failures | 0 |
| egress | 2 failures | 1 |

- The egress test fails only under load.
- Nothing was sent to anybody.
"""
PARTIAL_ANSWER = """**The logs are read; their failures are not compared.** Monday's log has 17 failures, Friday's has 1.

- No report was written.
- One question is open: whether the egress test fails only under load.
"""
EFFECTS = (
    RecordedEffect("file.changed", "report.md", "1.2 kB"),
    RecordedEffect("fact.remembered", "tests/flaky"),
)
REPORT_DIFF = """--- a/report.md
+++ b/report.md
@@ -1,3 +1,4 @@
 # Test runs
-Monday: 12 failures
-Tuesday: 3 failures
+storms: 12 failures on Monday, none on Friday
+restart: 3 failures on Monday, none on Friday
+egress: still flaky under load
"""
APPROVAL = ApprovalRequest(
    "a1",
    ("s5",),
    (ToolCall("write_file", {"path": "report.md", "content": "# Test runs\n" + "line\n" * 60}),),
    "digest",
    "no rule allows it",
    previews=(CallPreview(diff=REPORT_DIFF, target="/home/ada/desk/report.md"),),
    scopes=("once", "run", "folder"),
    folders=("/home/ada/desk",),
)
FOLDERS = tuple(f"/home/ada/photos/2026/{month:02}" for month in range(1, 10))
OPTIONS = (
    *FOLDERS,
    "all of them, the oldest first, with a report after each folder so that I can stop in between",
    "none of them",
)
# Calls of each kind of preview, which one decision allows or denies.
SEVERAL = ApprovalRequest(
    "a1",
    ("s4",) * 4,
    (
        ToolCall("run_command", {"command": ["pandoc", "report.md", "--output", "report.pdf"]}),
        ToolCall("move_file", {"from": "report.pdf", "to": "sent/report.pdf"}),
        ToolCall("delete_file", {"path": "draft.md"}),
        ToolCall("send_mail", {"to": "marta@example.org", "subject": "Test runs of last week"}),
    ),
    "digest",
    "the rule 'mail' asks: mail leaves this machine",
    expire_time=NOW + 540,
    previews=(
        CallPreview(command=("pandoc", "report.md", "--output", "report.pdf")),
        CallPreview(source="/home/ada/desk/report.pdf", target="/home/ada/desk/sent/report.pdf"),
        CallPreview(source="/home/ada/desk/draft.md", problem="the file has more than 1 MiB"),
        CallPreview(host="mail.example.org:465"),
    ),
    scopes=("once", "run", "folder", "host"),
    folders=("/home/ada/desk",),
    hosts=("mail.example.org:465",),
)
DAYS = tuple(
    PlanStep(f"d{day}", f"Read the log of day {day}", "read_file", {"path": f"logs/{day}.txt"}, depends_on=("d1",) if day > 1 else ())
    for day in range(1, 20)
)  # fmt: skip
LAST = PlanStep("d20", "Write the report", "write_file", depends_on=tuple(day.step_id for day in DAYS[1:]))
PARTS = (
    PlanStep("p1", "List the failures of both logs", "search_text", {"text": "FAILED"}),
    PlanStep("p2", "Pair them by test", agent="llm", depends_on=("p1",)),
    PlanStep("p3", "Count those that are gone", agent="llm", depends_on=("p2",)),
)


def _done(*steps: PlanStep) -> list[EventKind]:
    kinds: list[EventKind] = []
    for step in steps:
        effects = EFFECTS if step.step_id == "s5" else ()
        ended = StepEnded(
            step.step_id, StepState.SUCCEEDED, output=f"{step.step_id}: 12 lines", used=Amounts(tool_calls=1), duration_seconds=1.4, effects=effects
        )  # fmt: skip
        kinds += [StepStarted(step), ended]
    return kinds


# The message of a replay that differs from the record.
DIFFERS = "run differs: event 14 is StepStarted, expected none"
CREATED = RunCreated(TEXT, session_id="session-1")


def _planned(*more: EventKind) -> list[EventKind]:
    return [CREATED, RunStarted(), PlanningStarted(), PlanAdopted(Plan("", STEPS)), PassStarted(1), *more]


def _asking() -> dict[str, Sequence[Item]]:
    """Runs that wait for a person."""
    asked = _planned(*_done(*STEPS[:3]), StepStarted(STEPS[3]))
    question = Question("s4.1", "s4", "Which of the two egress runs counts?", {"type": "string"})
    choice = Question(
        "s4.1", "s4", "Which of the two egress runs counts?", options=("The first", "The second")
    )
    many = Question("s4.1", "s4", "Which folder has the photos of the broken screens?", options=OPTIONS)
    number = Question(
        "s4.1", "s4", "How many failures may a stable test have?", {"type": "integer", "minimum": 0},
        default=2, has_default=True, deadline_time=NOW + 95,
    )  # fmt: skip
    day = ApprovalRequest(
        "a1",
        ("s18",),
        (ToolCall("read_file", {"path": "logs/18.txt"}),),
        "digest",
        "the file is not in the workspace",
    )
    tainted = StepEnded(
        "s3", StepState.SUCCEEDED, output="s3: 2 lines", taint=("https://ci.example.org", "mail")
    )
    several = _planned(
        *_done(*STEPS[:2]),
        StepStarted(STEPS[2]),
        tainted,
        StepStarted(STEPS[3]),
        ApprovalRequested(SEVERAL, "s4"),
    )
    crashed = RunSuspended("repeated_crashes", "the daemon crashed 3 times during this run")
    plan = PlanAdopted(Plan("", (*DAYS, LAST)))
    return {
        "question": [*asked, InputRequested(question)],
        "choice": [*asked, InputRequested(choice)],
        "long-options": [*asked, InputRequested(many)],
        "form": [*asked, InputRequested(number)],
        "approval": _planned(*_done(*STEPS[:4]), StepStarted(STEPS[4]), ApprovalRequested(APPROVAL, "s5")),
        "approval-several": several,
        "long-plan": [CREATED, RunStarted(), PlanningStarted(), plan, *_done(*DAYS[:17]), StepStarted(DAYS[17]), ApprovalRequested(day, "d18")],
        "decision": [*asked, StepEnded("s4", StepState.UNKNOWN), RunSuspended("unknown_step")],
        "suspended": [*asked, crashed],
    }  # fmt: skip


def _cut_short() -> dict[str, Sequence[Item]]:
    """Runs that end before their work is done."""
    asked = _planned(*_done(*STEPS[:3]), StepStarted(STEPS[3]))
    changed = [*_planned(*_done(*STEPS)), AnswerStarted()]
    stopped = [
        *_planned(*_done(*STEPS[:3])),
        BudgetExhausted("tool_calls"),
        AnswerStarted(),
        AnswerComposed(Answer(PARTIAL_ANSWER)),
    ]
    failed = StepEnded("s4", StepState.FAILED, error="The engine did not answer in 300 s.")
    down = Problem("ENGINE_DOWN", "The engine did not answer.")
    return {
        "stopping": [*asked, CancelRequested()],
        "failed": [*asked, failed, RunEnded(RunState.FAILED, down)],
        "cancelled": [*asked, CancelRequested(), RunEnded(RunState.CANCELLED)],
        "failed-changes": [*changed, RunEnded(RunState.FAILED, down)],
        "cancelled-changes": [*changed, CancelRequested(), RunEnded(RunState.CANCELLED)],
        "alone": [RunCreated(TEXT), RunStarted(), RunEnded(RunState.FAILED)],
        "expired": [*stopped, RunEnded(RunState.EXPIRED, Problem("BUDGET_EXHAUSTED", "The run has no tool calls left."))],
    }  # fmt: skip


def runs() -> dict[str, Sequence[Item]]:
    """The events of a run in each state, by the name of the state."""
    asked = _planned(*_done(*STEPS[:3]), StepStarted(STEPS[3]))
    answered = [*_planned(*_done(*STEPS)), AnswerStarted(), AnswerComposed(Answer(ANSWER, effects=EFFECTS))]
    long = Answer(
        "\n\n".join(
            [ANSWER, "```\n" + "x = compute(x)\n" * 12 + "```", *(f"{n}. {TEXT}." for n in range(1, 31))]
        )
    )
    below: list[Item] = [
        ("parts", kind)
        for kind in (RunCreated("a part"), RunStarted(), PlanAdopted(Plan("", PARTS)), *_done(*PARTS[:2]))
    ]
    doubts = (
        "Friday's log ends at 14:00: later failures are not counted.",
        "Two tests have no name in Monday's log.",
    )
    return {
        "queued": [CREATED, Queued(2)],
        "planning": [CREATED, RunStarted(), PlanningStarted()],
        "running": [*asked, Progress("comparing 214 lines", step_id="s4")],
        "children": [*asked, ChildRunStarted("s4", "parts", "compare"), *below, ("parts", StepStarted(PARTS[2])), Progress("the model reads both lists", fraction=0.4)],
        "streaming": [*_planned(*_done(*STEPS)), AnswerStarted(), TextDelta(ANSWER[:150])],
        "done": [*answered, RunEnded(RunState.SUCCEEDED)],
        "long-answer": [*_planned(*_done(*STEPS)), AnswerStarted(), AnswerComposed(long), RunEnded(RunState.SUCCEEDED)],
        "conversation": [
            replace(CREATED, session_id="session-2"), *answered[1:-1],
            AnswerComposed(Answer(ANSWER, notes=doubts, effects=EFFECTS)), RunEnded(RunState.SUCCEEDED),
        ],
        "fork": [replace(CREATED, forked_run_id="run-oval"), *asked[1:], Progress("comparing 214 lines", step_id="s4")],
        "differs": [*answered, RunEnded(RunState.SUCCEEDED)],
        **_asking(),
        **_cut_short(),
    }  # fmt: skip


def summaries(now: float) -> tuple[RunSummary, ...]:
    """The history, newest first."""
    rows = (
        (RunState.RUNNING, TEXT),
        (RunState.AWAITING_INPUT, "Rename the photos of last weekend by date"),
        (RunState.SUCCEEDED, "How large is the folder Downloads?"),
        (RunState.FAILED, "Summarise the three newest papers in ~/Papers"),
        (RunState.CANCELLED, "Convert all HEIC pictures to JPEG"),
        (RunState.SUCCEEDED, "What is 17.5% of 2400?"),
    )
    return tuple(
        RunSummary(f"run-{number}", state, text, now - 600.0 * number**3, now, 9)
        for number, (state, text) in enumerate(rows, start=1)
    )


def talks(now: float) -> dict[str, tuple[RunSummary, ...]]:
    """The runs of the conversation with several, the newest first."""
    texts = ("Send it to Marta as well", TEXT, "Which tests failed last week?")
    ids = ("done", "conversation", "expired")
    return {
        "session-2": tuple(
            RunSummary(run_id, RunState.SUCCEEDED, text, now - 600.0 * place, now, 9)
            for place, (run_id, text) in enumerate(zip(ids, texts, strict=True))
        )
    }


# A run with more steps than a window shows.
LONG_STEPS = tuple(PlanStep(f"s{number}", f"Do part {number} of the work", "work") for number in range(1, 31))
LONG: list[Item] = [
    RunCreated("much to do"),
    RunStarted(),
    PlanAdopted(Plan("", LONG_STEPS)),
    StepStarted(LONG_STEPS[0]),
]
