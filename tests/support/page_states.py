"""Every state of the web page as the events of runs, and a client that delivers them."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

from aeond_client.errors import DataLossError, NoDaemonError, UnavailableError
from aeond_client.events import (
    AnswerComposed,
    AnswerStarted,
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    PassStarted,
    PlanAdopted,
    PlanningStarted,
    Progress,
    RunCreated,
    RunEnded,
    RunStarted,
    RunSuspended,
    StepEnded,
    StepResolved,
    StepStarted,
    TextDelta,
)
from aeond_client.records.daemon import DaemonStatus
from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
from aeond_client.records.models import Engine
from aeond_client.records.runs import (
    Amounts,
    Answer,
    Plan,
    PlanStep,
    Problem,
    RunState,
    RunSummary,
    StepState,
    UndoneChange,
    UndoReport,
)
from aeond_client.records.sessions import Session
from aeond_client.records.tools import RecordedEffect, ToolCall

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


def runs() -> dict[str, list[EventKind]]:
    """The events of a run in each state, by the name of the state."""
    question = Question("s4.1", "s4", "Which of the two egress runs counts?", {"type": "string"})
    choice = Question(
        "s4.1", "s4", "Which of the two egress runs counts?", options=("The first", "The second")
    )
    asked = _planned(*_done(*STEPS[:3]), StepStarted(STEPS[3]))
    answered = [*_planned(*_done(*STEPS)), AnswerStarted(), AnswerComposed(Answer(ANSWER, effects=EFFECTS))]
    long = Answer(
        "\n\n".join(
            [ANSWER, "```\n" + "x = compute(x)\n" * 12 + "```", *(f"{n}. {TEXT}." for n in range(1, 31))]
        )
    )
    stopped = [
        *_planned(*_done(*STEPS[:3])),
        BudgetExhausted("tool_calls"),
        AnswerStarted(),
        AnswerComposed(Answer(PARTIAL_ANSWER)),
    ]
    failed = StepEnded("s4", StepState.FAILED, error="The engine did not answer in 300 s.")
    return {
        "planning": [CREATED, RunStarted(), PlanningStarted()],
        "running": [*asked, Progress("comparing 214 lines", step_id="s4")],
        "question": [*asked, InputRequested(question)],
        "choice": [*asked, InputRequested(choice)],
        "approval": _planned(*_done(*STEPS[:4]), StepStarted(STEPS[4]), ApprovalRequested(APPROVAL, "s5")),
        "decision": [*asked, StepEnded("s4", StepState.UNKNOWN), RunSuspended("unknown_step")],
        "streaming": [*_planned(*_done(*STEPS)), AnswerStarted(), TextDelta(ANSWER[:150])],
        "done": [*answered, RunEnded(RunState.SUCCEEDED)],
        "long-answer": [*_planned(*_done(*STEPS)), AnswerStarted(), AnswerComposed(long), RunEnded(RunState.SUCCEEDED)],
        "fork": [replace(CREATED, forked_run_id="run-oval"), *asked[1:], Progress("comparing 214 lines", step_id="s4")],
        "differs": [*answered, RunEnded(RunState.SUCCEEDED)],
        "failed": [*asked, failed, RunEnded(RunState.FAILED, Problem("ENGINE_DOWN", "The engine did not answer."))],
        "cancelled": [*asked, CancelRequested(), RunEnded(RunState.CANCELLED)],
        "expired": [*stopped, RunEnded(RunState.EXPIRED, Problem("BUDGET_EXHAUSTED", "The run has no tool calls left."))],
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


Item = EventKind | tuple[str, EventKind]

# A run with more steps than a window shows.
LONG_STEPS = tuple(PlanStep(f"s{number}", f"Do part {number} of the work", "work") for number in range(1, 31))
LONG: list[Item] = [
    RunCreated("much to do"),
    RunStarted(),
    PlanAdopted(Plan("", LONG_STEPS)),
    StepStarted(LONG_STEPS[0]),
]


@dataclass
class StatesClient:
    """Replaces AsyncClient: each state is a run of that name, whose events are delivered at once. An event of a run below
    comes with the id of that run.
    """

    kinds: Mapping[str, Sequence[Item]] = field(default_factory=runs)
    up: bool = True
    state: str = "ready"
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    """The calls that fail."""
    listed: Callable[[float], tuple[RunSummary, ...]] = summaries
    talks: Mapping[str, tuple[RunSummary, ...]] = field(default_factory=dict)
    """The runs of sessions, newest first."""
    now: Callable[[], float] = time.time
    _watches: list[tuple[asyncio.AbstractEventLoop, asyncio.Queue[Item]]] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        if not self.up:
            raise NoDaemonError("No daemon is listening.")
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    @asynccontextmanager
    async def watch(self, run_id: str, after_seq: int = 0, **_: Any) -> AsyncIterator[AsyncIterator[Event]]:
        queue: asyncio.Queue[Item] = asyncio.Queue()
        for item in self.kinds[run_id]:
            queue.put_nowait(item)
        watch = (asyncio.get_running_loop(), queue)

        async def events() -> AsyncIterator[Event]:
            seqs: Counter[str] = Counter()
            start = self.now() - 12
            while True:
                item = await queue.get()
                of, kind = item if isinstance(item, tuple) else (run_id, item)
                live = isinstance(kind, TextDelta | Progress)
                seqs[of] += not live
                seq = seqs[of]
                if live or of != run_id or seq > after_seq:
                    yield Event(of, 0 if live else seq, 0.0 if live else start + seq / 4, seq / 4, kind)

        self._watches.append(watch)
        yield events()
        self._watches.remove(watch)

    def happen(self, item: Item) -> None:
        """Delivers one more event to everyone who watches, from any thread."""
        for loop, queue in self._watches:
            loop.call_soon_threadsafe(queue.put_nowait, item)

    def _called(self, name: str, **given: Any) -> None:
        self.calls.append((name, given))
        self._fails(name)

    def _fails(self, name: str) -> None:
        if name in self.failing:
            raise UnavailableError(f"{name} failed.")

    async def answer_run(self, run_id: str, answer: Any, question_id: str) -> None:
        self._called("answer_run", run_id=run_id, answer=answer, question_id=question_id)
        self.happen((run_id, InputAnswered(question_id, answer)))

    async def decide_approval(
        self, run_id: str, approval_id: str, digest: str, approved: bool, scope: str
    ) -> None:
        self._called("decide_approval", run_id=run_id, digest=digest, approved=approved, scope=scope)
        self.happen((run_id, ApprovalDecided(approval_id, approved, scope=scope)))

    async def decide_run(self, run_id: str, resolution: str, step_id: str) -> None:
        self._called("decide_run", run_id=run_id, resolution=str(resolution), step_id=step_id)
        self.happen((run_id, StepResolved(str(resolution), step_id)))

    async def create_session(self, **_: Any) -> Session:
        return Session("session-1")

    async def create_run(self, text: str, options: Any, **more: Any) -> Any:
        self.calls.append(("create_run", {"text": text, **more}))
        raise UnavailableError("No daemon is listening.")

    async def list_runs(self, *, session_id: str = "", limit: int) -> tuple[RunSummary, ...]:
        self._fails("list_runs")
        return self.talks.get(session_id, ()) if session_id else self.listed(self.now())[:limit]

    async def list_sessions(self, **_: Any) -> tuple[Session, ...]:
        now = self.now()
        return tuple(
            Session(f"session-{at}", title, now - at * 4000, now - at * 3000, 4, at)
            for at, title in enumerate((TEXT, "Photos of last weekend", "Papers"), start=1)
        )

    async def undo_run(self, run_id: str) -> UndoReport:
        self._fails("undo_run")
        return UndoReport(tuple(UndoneChange(effect.target, "restored") for effect in EFFECTS))

    async def replay_run(self, run_id: str, until_seq: int = 0) -> AsyncIterator[int]:
        for seq in range(1, len(self.kinds[run_id]) + 1):
            if run_id == "differs" and seq == 14:
                raise DataLossError(DIFFERS, reason="REPLAY_MISMATCH")
            yield seq

    async def fork_run(self, run_id: str, after_seq: int, options: Any, *, request_id: str) -> RunSummary:
        self._called("fork_run", run_id=run_id, after_seq=after_seq, request_id=request_id)
        return RunSummary("fork", RunState.RUNNING, TEXT, self.now(), self.now(), 1)

    async def get_status(self) -> DaemonStatus:
        engine = Engine(self.state, "qwen3-4b")
        messages = () if self.state == "ready" else ("The model is loading.",)
        return DaemonStatus("0.1.0", self.state, 4711, self.now(), 60.0, engine, messages=messages)
