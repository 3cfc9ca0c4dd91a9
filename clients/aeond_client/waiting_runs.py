"""Finds the run that waits for a person, among a run and those that it started."""

from collections.abc import Callable
from typing import Final

from aeond_client.async_client import AsyncClient
from aeond_client.connection.waiting import waits
from aeond_client.records.runs import Run, RunState

UNENDED: Final = (RunState.AWAITING_INPUT, RunState.SUSPENDED, RunState.RUNNING, RunState.PENDING)
MAX_LEVELS: Final = 8  # of runs that a run started, those started by these, and so on


async def waiting_run(
    client: AsyncClient, run: Run, needs: Callable[[Run], bool] = waits, levels: int = MAX_LEVELS
) -> Run | None:
    """The run, or one at most `levels` below it, that needs a person; None if they all work or have ended. Raises AeondError."""
    if needs(run):
        return run
    if levels == 0 or run.state.ended:
        return None
    # Runs below carry no session: they are found through the run that started them.
    for line in await client.list_runs(states=UNENDED, parent_run_id=run.run_id):
        found = await waiting_run(client, await client.get_run(line.run_id), needs, levels - 1)
        if found is not None:
            return found
    return None
