"""One look at the daemon."""

from dataclasses import replace
from typing import Any, cast

import pytest

from aeon_cli.observing.overview import Overview, RunLine, lines_of, read_overview, rows_of
from aeond_client.client import Client
from aeond_client.errors import NotFoundError
from aeond_client.records.daemon import DaemonStatus
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.models import Engine, EngineMetrics
from aeond_client.records.runs import Amounts, PlanStep, Run, RunState, RunSummary, Step, StepState
from aeond_client.records.tools import ToolCall

METRICS = EngineMetrics(running_requests=1, prompt_tokens=900, completion_tokens=100, tokens_per_second=12.5)
STATUS = DaemonStatus(
    "1.0",
    "ready",
    7,
    0.0,
    60.0,
    Engine("ready", "small", metrics=METRICS),
    running_runs=1,
    max_running_runs=8,
)


class SomeRuns:
    """A client of a daemon with these runs."""

    def __init__(self, *runs: Run, status: DaemonStatus = STATUS) -> None:
        self.runs = runs
        self.status = status

    def get_status(self) -> DaemonStatus:
        return self.status

    def list_runs(self, states: list[RunState], limit: int) -> list[RunSummary]:
        found = [run for run in self.runs if run.state in states]
        return [RunSummary(run.run_id, run.state, run.text, 1000.0, 1000.0, 1) for run in found][:limit]

    def get_run(self, run_id: str) -> Run:
        return next(run for run in self.runs if run.run_id == run_id)


def look(*runs: Run, status: DaemonStatus = STATUS, **options: Any) -> Overview:
    return read_overview(cast("Client", SomeRuns(*runs, status=status)), **options)


def working(run_id: str = "r1", **fields: Any) -> Run:
    steps = (
        Step(PlanStep("s1", tool="echo"), StepState.SUCCEEDED),
        Step(PlanStep("s2", tool="read_file", arguments={"path": "a.txt"}), StepState.RUNNING),
        Step(PlanStep("s3", tool="echo"), StepState.PENDING),
    )
    return Run(run_id, RunState.RUNNING, "read it", **{"steps": steps, "used": Amounts(tokens=42), **fields})


def test_a_run_is_shown_with_its_current_step() -> None:
    """A run at work shows how many steps are done, the tokens used, and the step that is executed now."""
    assert rows_of(look(working()), unicode=False, now=1060.0) == [
        ("r1", "* running", "1m", "1/3", "42 tokens", "read_file a.txt (read it)")
    ]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"questions": (Question("s2.1", "s2", "Which one?"),)}, "asks: Which one?"),
        (
            {"approvals": (ApprovalRequest("s2.1", ("s2",), (ToolCall("send"),), "d"),)},
            "needs approval: send",
        ),
        (
            {
                "state": RunState.SUSPENDED,
                "steps": (Step(PlanStep("s1", tool="send"), StepState.UNKNOWN),),
                "phase": "execute",
            },
            "interrupted: send",
        ),
        (
            {"state": RunState.SUSPENDED, "steps": (), "suspend_reason": "repeated_crashes", "phase": "plan"},
            "suspended: repeated crashes",
        ),
    ],
)
def test_a_run_that_waits_for_a_person_says_for_what(fields: dict[str, Any], shown: str) -> None:
    """An open question or approval is shown instead of the step."""
    assert rows_of(look(replace(working(), **fields)), unicode=False)[0][-1] == f"{shown} (read it)"


def test_runs_at_work_come_first_and_the_list_is_bounded() -> None:
    """Runs at work come before waiting ones; beyond the limit it says that there are more."""
    pending = [replace(working(f"p{number}"), state=RunState.PENDING) for number in range(4)]
    shown = look(*pending, working("r1"), most=3)
    assert [line.run_id for line in shown.runs] == ["r1", "p0", "p1"]
    assert shown.more_runs
    assert not look(working("r1"), most=3).more_runs


def test_a_run_that_is_deleted_during_the_look_is_left_out() -> None:
    """A run that is in the list and no longer exists does not end the look at the others."""

    class Deleting(SomeRuns):
        def get_run(self, run_id: str) -> Run:
            if run_id == "r1":
                raise NotFoundError("The run does not exist.", reason="RUN_NOT_FOUND")
            return super().get_run(run_id)

    shown = read_overview(cast("Client", Deleting(working("r1"), working("r2"))))
    assert [line.run_id for line in shown.runs] == ["r2"]


def test_the_head_shows_daemon_engine_and_load() -> None:
    """State, engine with its speed, load with limits, clients, and problems are one line each."""
    assert lines_of(look(status=replace(STATUS, messages=("the disk is full",)))) == [
        "aeond   ready, version 1.0, up 1m00s",
        "engine  small ready, 12.5 tokens/s, 1 running, 0 waiting, 1000 tokens",
        "runs    1 of 8 running, 0 queued, 0 need a person",
        "clients 0 connections, 0 streams",
        "! the disk is full",
    ]


def test_the_speed_is_that_since_the_last_look() -> None:
    """Between two looks the speed is counted; after a restart of the daemon its own figure is shown again."""
    later = replace(
        STATUS,
        uptime_seconds=70.0,
        engine=Engine("ready", "small", metrics=replace(METRICS, completion_tokens=300)),
    )
    before = look()
    assert look(status=later, before=before).tokens_per_second == 20.0
    assert look(status=replace(later, pid=8), before=before).tokens_per_second == 12.5
    assert look(status=replace(STATUS, engine=Engine("cold"))).tokens_per_second == 0.0


def test_a_line_of_a_run_without_steps_shows_its_request() -> None:
    """Before there is a plan the request stands in the place of the step."""
    line = RunLine("r1", RunState.PENDING, "do something", 1000, 0.0)
    assert rows_of(Overview(STATUS, 0.0, (line,)), unicode=False, now=0.0)[0][-1] == "do something"


@pytest.mark.parametrize(
    ("phase", "shown"),
    [("profile", "estimating the work"), ("execute", "executing the plan"), ("new", "new")],
)
def test_between_steps_a_run_shows_its_phase_in_words(phase: str, shown: str) -> None:
    """Before the first step and between steps the phase is shown; one that this program does not know, by its name."""
    row = rows_of(look(working(phase=phase, steps=(), used=Amounts(tokens=123_456))), unicode=False)[0]
    assert row[-3:] == ("", "123k tokens", f"{shown} (read it)")
