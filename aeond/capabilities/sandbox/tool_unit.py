"""The systemd sandbox: each connection to `aeond-tool.socket` starts a hardened unit for one errand.

The unit runs as a dynamic user and so cannot read the daemon's folders: the workspace is transferred to it
and the changes are transferred back. systemd ends all processes of the errand with the unit.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from aeond.bound_folders import is_folder, open_bound
from aeond.capabilities.sandbox.conversing import USUAL, Conditions, answer_of, converse
from aeond.capabilities.sandbox.messages import Reply, Request
from aeond.capabilities.sandbox.workspace_archive import ParcelError, pack, remove, unpack
from aeond.domain.tools import Workspace
from aeond.errors import ToolError
from aeond.ports import ToolAnswer
from aeond.thread_rights import acting_as

CONNECT_SECONDS: Final = 5.0


class ToolUnit:
    """Implements Sandbox with systemd units. A workspace that contains one of `hidden` is rejected."""

    def __init__(self, address: Path, hidden: Sequence[Path] = ()) -> None:
        self._address = address
        self._hidden = tuple(hidden)

    @property
    def profile(self) -> str:
        """The address of the unit: its settings belong to the administrator, who can change them at any time."""
        return f"unit:{self._address}"

    async def perform(
        self, request: Request, max_value_bytes: int, conditions: Conditions = USUAL
    ) -> ToolAnswer:
        workspace = request.context.workspace
        rights = Workspace.rights_of(workspace)
        if workspace:
            parcel = await anyio.to_thread.run_sync(acting_as, rights, partial(self._packed, workspace))
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
            reply = await converse(reader, writer, request, max_value_bytes, conditions.show)
        finally:
            writer.transport.abort()
        answer = answer_of(reply)  # a call that failed changed a copy: its effects are none
        if workspace:
            bringing = partial(_brought_back, workspace, reply, conditions)
            await anyio.to_thread.run_sync(acting_as, rights, bringing)
        return answer

    def _packed(self, workspace: str) -> bytes:
        try:
            with _opened(workspace) as folder:
                facts = folder.stat()
                if any(is_folder(above, facts) for place in self._hidden for above in place.parents):
                    raise ToolError(
                        f"{workspace} contains the daemon's own files: choose another workspace",
                        reason="WORKSPACE_REFUSED",
                    )
                return pack(folder)
        except (ParcelError, OSError) as error:
            raise ToolError(
                f"{workspace} cannot be transferred to the sandbox: {error}: choose a smaller workspace",
                reason="WORKSPACE_TOO_LARGE",
            ) from error


@contextmanager
def _opened(workspace: str) -> Iterator[Path]:
    """A path of the folder that the workspace is bound to, which leads there whatever is renamed."""
    folder = open_bound(workspace, Workspace.identity_of(workspace), Workspace.rights_of(workspace))
    try:
        yield Path(f"/proc/self/fd/{folder}")
    finally:
        os.close(folder)


def _brought_back(workspace: str, reply: Reply, conditions: Conditions) -> None:
    """Applies the changes that the tool may make to the workspace, or raises a ToolError that says what failed."""
    try:
        with _opened(workspace) as folder:
            remove([name for name in reply.removed if conditions.may_change(name)], folder)
            unpack(reply.parcel, folder, conditions.may_change)
    except (ParcelError, OSError) as error:
        raise ToolError(
            f"changes made by the tool could not be transferred to {workspace}: {error}",
            reason="WORKSPACE_NOT_UPDATED",
        ) from error
