"""The systemd sandbox: each connection to `aeond-tool.socket` starts a hardened unit for one errand.

The unit runs as a dynamic user and so cannot read the daemon's folders: the workspace is transferred to it
and the changes are transferred back. systemd ends all processes of the errand with the unit.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio

from aeond.capabilities.sandbox.conversing import answer_of, converse
from aeond.capabilities.sandbox.messages import Request
from aeond.capabilities.sandbox.workspace_archive import ParcelError, pack, remove, unpack
from aeond.errors import ToolError
from aeond.ports import ToolAnswer

CONNECT_SECONDS: Final = 5.0


class ToolUnit:
    """Implements Sandbox with systemd units. A workspace that contains one of `hidden` is rejected."""

    def __init__(self, address: Path, hidden: Sequence[Path] = ()) -> None:
        self._address = address
        self._hidden = tuple(hidden)

    async def perform(self, request: Request, max_value_bytes: int) -> ToolAnswer:
        workspace = Path(request.context.workspace) if request.context.workspace else None
        if workspace is not None:
            parcel = await anyio.to_thread.run_sync(self._packed, workspace)
            request = replace(request, parcel=parcel)
        try:
            with anyio.fail_after(CONNECT_SECONDS):
                reader, writer = await asyncio.open_unix_connection(str(self._address))
        except (OSError, TimeoutError) as error:
            raise ToolError(
                f"no sandbox is available for this tool: {self._address} does not respond ({error}): run"
                " systemctl start aeond-tool.socket",
                reason="SANDBOX_UNAVAILABLE",
            ) from error
        try:
            reply = await converse(reader, writer, request, max_value_bytes)
        finally:
            writer.transport.abort()
        answer = answer_of(reply)
        if workspace is not None:
            await anyio.to_thread.run_sync(_brought_back, workspace, reply.parcel, reply.removed)
        return answer

    def _packed(self, workspace: Path) -> bytes:
        real = workspace.resolve()
        if any(place.is_relative_to(real) for place in self._hidden):
            raise ToolError(
                f"{workspace} contains the daemon's own files: choose another workspace",
                reason="WORKSPACE_REFUSED",
            )
        try:
            return pack(workspace)
        except (ParcelError, OSError) as error:
            raise ToolError(
                f"{workspace} cannot be transferred to the sandbox: {error}: choose a smaller workspace",
                reason="WORKSPACE_TOO_LARGE",
            ) from error


def _brought_back(workspace: Path, parcel: bytes, removed: Sequence[str]) -> None:
    """Applies the tool's changes to the workspace, or raises a ToolError that says what failed."""
    try:
        remove(removed, workspace)
        unpack(parcel, workspace)
    except (ParcelError, OSError) as error:
        raise ToolError(
            f"changes made by the tool could not be transferred to {workspace}: {error}",
            reason="WORKSPACE_NOT_UPDATED",
        ) from error
