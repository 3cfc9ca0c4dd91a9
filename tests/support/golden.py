"""Golden journals: stories of runs as a released version wrote them, kept as JSON lines for ever.

`python -m tests.support.golden VERSION` records the stories below with the code as it is. It never
overwrites a file: a journal that was released does not change.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aeond.domain.plans.approvals import ApprovalRequest, ApprovalScope, CallPreview
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.run import Answer, Owner, Resolution, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import Recovery, ToolCall
from aeond.domain.values import JsonValue
from aeond.state_machine.fold import fold
from tests.support.every_kind import DECIDED
from tests.support.folding import fold_all
from tests.support.repository import ROOT
from tests.support.simulation import SimulatedHost, StepScript
from tests.support.transcripts import read_lines, write_lines

FOLDER = ROOT / "tests" / "replay" / "journals"


@dataclass(frozen=True)
class GoldenJournal:
    """One recorded run and what it came to when it was recorded."""

    name: str
    lines: tuple[str, ...]
    outcome: JsonValue

    def folded(self) -> JsonValue:
        """The run as folded by the current code."""
        return outcome_of(fold_all(RunSnapshot("run"), read_lines(self.lines)))


def outcome_of(run: RunSnapshot) -> JsonValue:
    """The visible outcome of a run: its state, steps, answer and use."""
    used = run.ledger.used
    return {
        "state": run.state,
        "seq": run.seq,
        "answer": None if run.answer is None else run.answer.text,
        "problem": None if run.problem is None else run.problem.reason,
        "exhausted": run.exhausted,
        "crashes": run.crashes,
        "used": {"ttl": used.ttl, "llm_calls": used.llm_calls, "tokens": used.tokens},
        "steps": {s.step_id: [s.state, s.attempt, s.mode, s.output, s.reason] for s in run.steps.values()},
    }


def golden_journals() -> list[GoldenJournal]:
    journals = []
    for path in sorted(FOLDER.glob("*.jsonl")):
        outcome = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        lines = tuple(path.read_text(encoding="utf-8").splitlines())
        journals.append(GoldenJournal(path.stem, lines, outcome))
    return journals


def stories() -> Iterable[tuple[str, list[e.Event]]]:
    """A run of every kind: each kind of event and each end of a run is in at least one."""
    echo = ToolCall("echo", {"text": "a $s1 \u00e9 \U0001f600", "n": 2**53, "x": 0.1, "none": None})
    steps = (
        PlanStep("s1", "first", echo, provides=("a",)),
        PlanStep("s2", "second", agent="llm", depends_on=("s1",), handoff_to_next="go on"),
        PlanStep("s3", "third", ToolCall("now"), depends_on=("s1",)),
    )
    plan = Plan("a goal", steps)
    some = Amounts(ttl=1, llm_calls=1, tokens=10, tool_calls=1)

    def host(**rest: object) -> SimulatedHost:
        return SimulatedHost(plan, Budget(), spend=some.at_most, **rest)  # type: ignore[arg-type]  # the stories pass what the host takes

    def events_of(host: SimulatedHost, *kinds: e.EventKind) -> list[e.Event]:
        host.work()
        run = host.run
        for kind in kinds:
            event = e.Event("run", run.seq + 1, float(run.seq + 1), 0.0, kind)
            run = fold(run, event)
            host.journal.append(event)
        return host.journal

    yield "planned", events_of(host())
    yield "decided", _with_a_decision(events_of(host(given=True)))
    yield "repaired", events_of(host(scripts={"s1": StepScript(repairs=1)}))
    yield "failed", events_of(host(given=True, scripts={"s1": StepScript(StepState.FAILED)}))
    yield "unplanned", events_of(host(planning_fails=True))
    yield "cancelled", events_of(host(outside={2: e.CancelRequested(Owner(1000, 42), "enough")}))
    yield "expired", events_of(SimulatedHost(plan, Budget(ttl=1), spend=some.at_most))
    cut = host(scripts={"s1": StepScript(recovery=Recovery.ASK)}, given=True)
    cut.crash_before = lambda seq: seq == 5
    phased = {"logic_version": 2, "in_session": True}
    detours = {"s1": StepScript(asks=True), "s3": StepScript(subtask=True)}
    # Characters whose runs take the three routes; the first has every kind of event between them.
    yield "asked", events_of(host(**phased, scripts=detours, character=59))
    yield "direct", events_of(host(**phased, character=3))
    yield "replied", events_of(host(**phased, character=6))
    yield "chatted", events_of(host(**{**phased, "logic_version": 3}, character=6))
    yield "asking", events_of(host(**{**phased, "logic_version": 4}, character=3))
    yield "suspended", events_of(cut, e.StepResolved(Resolution.RETRY, Owner(1000, 42), "s1"), e.RunParked())

    yield "approved", approved(some)


def approved(some: Amounts) -> list[e.Event]:
    """A run of which a person allowed one call."""
    step = PlanStep("s1", "write it", ToolCall("write_file", {"path": "a.txt", "content": "\u00e9"}))
    call = ToolCall("write_file", {"path": "a.txt", "content": "\u00e9"}, "run/s1")
    preview = CallPreview(diff="--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+\u00e9\n", target="/home/a.txt")
    approval = ApprovalRequest(
        "s1.1", ("s1",), (call,), ("d1",), "d", "a rule asks", (preview,), ("k1",), ("/home",), (), 4.0, 60.0
    )
    kinds: tuple[e.EventKind, ...] = (
        e.RunCreated(RunRequest("write it"), Budget(), Plan("write", (step,))),
        e.RunStarted(),
        e.PassStarted(1),
        e.StepStarted(step, 1, StepMode.TOOL, Recovery.RECONCILE, some),
        e.ApprovalRequested("s1", approval, Amounts(ttl=1)),
        e.ApprovalDecided("s1.1", True, Owner(1000, 42), "d", ApprovalScope.FOLDER),
        e.StepStarted(step, 2, StepMode.TOOL, Recovery.RECONCILE, some),
        e.StepEnded("s1", StepState.SUCCEEDED, StepMode.TOOL, {"path": "a.txt"}, used=some),
        e.PassEnded(1),
        e.AnswerStarted(Amounts()),
        e.AnswerComposed(Answer("It is written.", ("s1",))),
        e.RunEnded(RunState.SUCCEEDED),
    )
    return [e.Event("run", seq, float(seq), 0.0, kind) for seq, kind in enumerate(kinds, start=1)]


def _with_a_decision(events: list[e.Event]) -> list[e.Event]:
    """The same run with a decision about its first step, recorded before the step's end."""
    place = next(index for index, event in enumerate(events) if isinstance(event.kind, e.StepEnded))
    end = events[place]
    decided = (
        replace(end, kind=e.PolicyDecided.of(end.kind.step_id, DECIDED))
        if isinstance(end.kind, e.StepEnded)
        else end
    )
    moved = [replace(event, seq=event.seq + 1) for event in events[place:]]
    return [*events[:place], decided, *moved]


def record(version: str) -> None:
    known = {path.stem.partition("-")[2] for path in FOLDER.glob("*.jsonl")}
    for name, events in stories():
        if name in known:  # the recording of an older version is kept unchanged
            continue
        path = FOLDER / f"{version}-{name}.jsonl"
        with path.open("x", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in write_lines(events))
        outcome = json.dumps(outcome_of(fold_all(RunSnapshot("run"), events)), indent=1)
        Path(path.with_suffix(".json")).write_text(outcome + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1])
