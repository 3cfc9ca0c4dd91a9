"""Events of runs as session updates."""

from pathlib import Path
from typing import Any

import pytest
from acp.schema import AgentMessageChunk, AgentPlanUpdate, TextContentBlock

from aeon_cli.editor.updates import MAX_OUTPUT_CHARS, RunUpdates
from aeond_client.events import (
    AnswerComposed,
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    Event,
    EventKind,
    PlanAdopted,
    RunEnded,
    StepEnded,
    StepStarted,
    TextDelta,
)
from aeond_client.records.judgements import ApprovalRequest
from aeond_client.records.runs import Answer, Plan, PlanStep, Problem, RunState, StepState

READ = PlanStep("s1", tool="read_file", arguments={"path": "a.txt"})
THINK = PlanStep("s2", "think about it", agent="llm", depends_on=("s1",))


class Shown:
    """The updates of one run's events."""

    def __init__(self, folder: Path) -> None:
        self.updates = RunUpdates("r1", folder, {"read_file": "read"})

    def of(self, kind: EventKind, run_id: str = "r1") -> list[Any]:
        return list(self.updates.of(Event(run_id, 1, 0.0, 0.0, kind)))

    def text_of(self, kind: EventKind) -> str:
        return "".join(
            one.content.text
            for one in self.of(kind)
            if isinstance(one, AgentMessageChunk) and isinstance(one.content, TextContentBlock)
        )


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    return Shown(tmp_path)


def entries(updates: list[Any]) -> list[tuple[str, str]]:
    (plan,) = [one for one in updates if isinstance(one, AgentPlanUpdate)]
    return [(entry.content, entry.status) for entry in plan.entries]


def test_the_plan_is_ticked_off(shown: Shown, tmp_path: Path) -> None:
    """Entries follow the states of their steps; a failure is said in words; tool calls have kind, place and output."""
    assert entries(shown.of(PlanAdopted(Plan("", (READ, THINK))))) == [
        ("read_file a.txt", "pending"),
        ("think about it", "pending"),
    ]
    plan, call = shown.of(StepStarted(READ))
    assert entries([plan])[0] == ("read_file a.txt", "in_progress")
    assert (call.tool_call_id, call.kind, call.status) == ("r1:s1", "read", "in_progress")
    assert [place.path for place in call.locations] == [str(tmp_path / "a.txt")]
    _, call = shown.of(StepEnded("s1", StepState.SUCCEEDED, output="x" * (MAX_OUTPUT_CHARS + 1)))
    assert call.status == "completed"
    assert len(call.content[0].content.text) == MAX_OUTPUT_CHARS
    assert len(shown.of(StepStarted(THINK))) == 1, "an agent is no tool call"
    ended = shown.of(StepEnded("s2", StepState.FAILED, error="no idea"))
    assert entries(ended)[1] == ("think about it (failed)", "completed")


def test_a_denied_step_has_failed(shown: Shown) -> None:
    """The denial ends plan entry and tool call; an approval lets the call go on."""
    approval = ApprovalRequest("s1.1", ("s1",), (), "digest")
    shown.of(PlanAdopted(Plan("", (READ,))))
    shown.of(StepStarted(READ))
    for approved, status in ((True, "in_progress"), (False, "failed")):
        shown.of(ApprovalRequested(approval, "s1"))
        assert shown.of(ApprovalDecided("s1.1", approved))[-1].status == status


def test_runs_below_show_their_tool_calls_only(shown: Shown) -> None:
    """The plan, text and end of a child run are not those of the turn."""
    assert shown.of(PlanAdopted(Plan("", (READ,))), "r2") == []
    (call,) = shown.of(StepStarted(READ), "r2")
    assert call.tool_call_id == "r2:s1"
    assert shown.of(TextDelta("hello"), "r2") == []
    assert shown.of(RunEnded(RunState.SUCCEEDED), "r2") == []
    assert shown.updates.stop_reason is None


def test_the_answer_is_said_once(shown: Shown) -> None:
    """Streamed text is not repeated by the answer, a new draft begins a paragraph, and notes follow."""
    assert shown.text_of(TextDelta("Wrong")) == "Wrong"
    assert shown.text_of(TextDelta("Blue ", offset=0)) == "\n\nBlue "
    assert shown.text_of(TextDelta("it is", offset=5)) == "it is"
    assert (
        shown.text_of(AnswerComposed(Answer("Blue it is.", notes=("Not checked",))))
        == ".\n\nNote: Not checked"
    )


@pytest.mark.parametrize(
    ("state", "dimension", "reason"),
    [
        (RunState.SUCCEEDED, "", "end_turn"),
        (RunState.FAILED, "", "end_turn"),
        (RunState.CANCELLED, "", "cancelled"),
        (RunState.EXPIRED, "tokens", "max_tokens"),
        (RunState.EXPIRED, "ttl", "max_turn_requests"),
    ],
)
def test_the_end_has_a_reason(shown: Shown, state: RunState, dimension: str, reason: str) -> None:
    """The turn's stop reason follows from the end of the run; a failure is said."""
    if dimension:
        shown.of(BudgetExhausted(dimension))
    problem = Problem("NO_PLAN", "no plan was found") if state is RunState.FAILED else None
    said = shown.text_of(RunEnded(state, problem))
    assert said == ("The run failed: no plan was found (NO_PLAN)" if problem else "")
    assert shown.updates.stop_reason == reason
