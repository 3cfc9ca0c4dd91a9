"""Finds the run that waits for a person: the one that was asked for, or one below it."""

from typing import Final

from aeond_client import AsyncClient, Run
from aeond_client.connection.waiting import waits
from aeond_client.runs import RunState

_OPEN: Final = (RunState.AWAITING_INPUT, RunState.SUSPENDED, RunState.RUNNING, RunState.PENDING)
_MAX_LEVELS: Final = 8


async def waiting_run(client: AsyncClient, run: Run, levels: int = _MAX_LEVELS) -> Run | None:
    """The run, or one at most `levels` below it, that waits for a person; None if they all work or have ended."""
    if waits(run):
        return run
    if levels == 0 or run.state.ended:
        return None
    for line in await client.list_runs(states=_OPEN, parent_run_id=run.run_id):
        found = await waiting_run(client, await client.get_run(line.run_id), levels - 1)
        if found is not None:
            return found
    return None
