"""Runs as every façade treats them: finding the one that waits for a person, showing its calls, and cancelling."""

import json
from typing import Final

import anyio

from aeond_client import AsyncClient, Run
from aeond_client.connection.waiting import waits
from aeond_client.errors import AeondError
from aeond_client.records.judgements import ApprovalRequest, CallPreview
from aeond_client.records.runs import RunState

_OPEN: Final = (RunState.AWAITING_INPUT, RunState.SUSPENDED, RunState.RUNNING, RunState.PENDING)
_MAX_LEVELS: Final = 8
_CANCEL_SECONDS: Final = 10.0


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


def call_lines(approval: ApprovalRequest) -> list[str]:
    """Exactly what the calls would do."""
    lines = []
    previews = approval.previews or (CallPreview(),) * len(approval.calls)
    for call, preview in zip(approval.calls, previews, strict=True):
        lines.append(f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}")
        lines += [preview.diff] if preview.diff else []
        lines += [f"incomplete: {preview.problem}"] if preview.problem else []
    return lines


async def cancel(client: AsyncClient, run_id: str, reason: str) -> None:
    """Cancels the run of a request that was cancelled or whose client went away, even while the request is ending."""
    with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
        try:
            await client.cancel_run(run_id, reason)
        except AeondError:
            return  # the daemon is away: the run goes on, as it would without a client
