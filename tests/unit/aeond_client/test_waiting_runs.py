"""Which of a run and those below it waits for a person."""

from collections.abc import Collection
from typing import Any, cast

from aeond_client.async_client import AsyncClient
from aeond_client.records.runs import Run, RunState
from aeond_client.waiting_runs import MAX_LEVELS, waiting_run


class Runs:
    """A client of runs each of which started the next one."""

    def __init__(self, *states: RunState) -> None:
        self.runs = [Run(f"r{number}", state, "a request") for number, state in enumerate(states)]

    async def get_run(self, run_id: str) -> Run:
        return next(run for run in self.runs if run.run_id == run_id)

    async def list_runs(self, *, states: Collection[RunState], parent_run_id: str) -> list[Run]:
        below = int(parent_run_id[1:]) + 1
        return [run for run in self.runs[below : below + 1] if run.state in states]

    async def waiting(self, **options: Any) -> str:
        found = await waiting_run(cast("AsyncClient", self), self.runs[0], **options)
        return found.run_id if found else ""


async def test_the_first_that_waits_is_found_below_those_that_work() -> None:
    """The run itself is found if it waits, else the nearest one below it; none where all work."""
    working, waiting = RunState.RUNNING, RunState.AWAITING_INPUT
    assert await Runs(waiting, waiting).waiting() == "r0"
    assert await Runs(working, working, RunState.SUSPENDED).waiting() == "r2"
    assert await Runs(working, working).waiting() == ""


async def test_what_ended_and_what_is_far_below_is_left_out() -> None:
    """A run that ended has nothing below it that waits, and the search ends after some levels."""
    working, waiting = RunState.RUNNING, RunState.AWAITING_INPUT
    assert await Runs(RunState.SUCCEEDED, waiting).waiting() == ""
    assert await Runs(*[working] * MAX_LEVELS, waiting).waiting() == f"r{MAX_LEVELS}"
    assert await Runs(*[working] * (MAX_LEVELS + 1), waiting).waiting() == ""


async def test_what_counts_as_waiting_is_the_callers_choice() -> None:
    """A caller that cannot answer every kind of waiting names the one that it can answer."""
    runs = Runs(RunState.SUSPENDED, RunState.AWAITING_INPUT)
    assert await runs.waiting(needs=lambda run: run.state is RunState.AWAITING_INPUT) == "r1"
