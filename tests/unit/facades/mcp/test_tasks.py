"""Runs as tasks of MCP."""

from typing import Any

import pytest

from aeond.facades.mcp import tasks
from aeond_client.records.runs import PlanStep, Run, RunState, Step, StepState


def run(state: RunState, **parts: Any) -> Run:
    return Run("r1", state, "a request", created_time=0.0, changed_time=1.5, **parts)


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (RunState.PENDING, "working"),
        (RunState.RUNNING, "working"),
        (RunState.AWAITING_INPUT, "working"),
        (RunState.SUCCEEDED, "completed"),
        (RunState.FAILED, "completed"),
        (RunState.EXPIRED, "completed"),
        (RunState.CANCELLED, "cancelled"),
    ],
)
def test_a_new_task_has_the_state_of_its_run(state: RunState, status: str) -> None:
    """A task has the id and the times of its run; one that failed is completed, with an error of the tool as its result."""
    created = tasks.created(run(state))
    assert (created["resultType"], created["taskId"], created["status"]) == ("task", "r1", status)
    assert (created["createdAt"], created["lastUpdatedAt"]) == (
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:01.500000Z",
    )
    assert created["ttlMs"] is None


def test_the_message_is_the_work_in_progress() -> None:
    """The message of a task is what its running steps do, or why it is suspended."""
    steps = tuple(
        Step(PlanStep(f"s{number}", description), state)
        for number, (description, state) in enumerate(
            [("read", StepState.SUCCEEDED), ("add", StepState.RUNNING), ("write", StepState.PENDING)]
        )
    )
    assert tasks.created(run(RunState.RUNNING, steps=steps))["statusMessage"] == "add"
    assert "statusMessage" not in tasks.created(run(RunState.RUNNING))
    suspended = tasks.created(run(RunState.SUSPENDED, suspend_reason="disk_full"))
    assert suspended["statusMessage"] == "suspended (disk_full): aeonctl show r1"
