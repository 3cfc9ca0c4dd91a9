"""Runs as every façade treats them: showing their calls, and cancelling."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio

from aeond_client import AsyncClient
from aeond_client.errors import AeondError
from aeond_client.records.judgements import ApprovalRequest, CallPreview

CREATE_SECONDS: Final = 30.0
"""How long a façade waits for the confirmation of a new run."""
_CANCEL_SECONDS: Final = 10.0


def call_lines(approval: ApprovalRequest) -> list[str]:
    """Exactly what the calls would do."""
    lines = []
    previews = approval.previews or (CallPreview(),) * len(approval.calls)
    for call, preview in zip(approval.calls, previews, strict=True):
        lines.append(f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}")
        lines += [preview.diff] if preview.diff else []
        lines += [f"incomplete: {preview.problem}"] if preview.problem else []
    return lines


def json_or_text(text: str) -> Any:
    """The JSON value of this text; the text itself if it is none: the daemon then says what it expects."""
    try:
        return json.loads(text)
    except ValueError:
        return text


async def cancel(client: AsyncClient, run_id: str, reason: str) -> None:
    """Cancels the run of a request that was cancelled or whose client went away, even while the request is ending."""
    # If the daemon is away, the run goes on, as it would without a client.
    with suppress(AeondError, TimeoutError):
        async with uncancelled(_CANCEL_SECONDS):
            await client.cancel_run(run_id, reason)


@asynccontextmanager
async def uncancelled(seconds: float) -> AsyncGenerator[None, None]:
    """Shields calls of the client from cancellation, for at most so long: TimeoutError.

    A deadline of anyio would not do: grpc.aio raises a new CancelledError, which anyio does not recognise as its own.
    """
    with anyio.CancelScope(shield=True):
        async with asyncio.timeout(seconds):
            yield
