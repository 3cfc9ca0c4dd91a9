"""The folders in which tools may work, and to which runs are bound."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from aeond.bound_folders import identity_of, open_bound, open_folder
from aeond.domain.runs.events import RunSuspended
from aeond.domain.runs.run import Owner, RunRequest, RunState, SuspendReason
from aeond.domain.tools import Workspace
from aeond.errors import AeondError, InvalidInputError, RefusedError
from aeond.frozen import frozen
from aeond.ports import RunLoop
from aeond.thread_rights import acting_as, can_act_for_others
from aeond.user_rights import UserRights


@frozen
class Workspaces:
    """Checks whether a folder may be a workspace, and creates private workspaces.

    A workspace must be below one of `roots` and not inside a `protected` folder (the journal, the
    configuration, secrets): write access there would change the daemon's state, and read access would
    disclose its secrets. It may contain protected folders: a user's home is a valid workspace, and the file
    tools exclude the protected parts.

    A folder is used for the daemon's own user, `user_id`, and for root with the rights of the daemon. For other users it is
    used with theirs where the daemon `acts_for_others`, and refused elsewhere: they could otherwise read and write what
    they may not.
    """

    own: Path
    roots: Sequence[Path]
    protected: Sequence[Path]
    user_id: int
    acts_for_others: Callable[[], bool] = can_act_for_others

    async def bound(self, request: RunRequest, own_name: str) -> RunRequest:
        """The request with its workspace resolved for its owner, the identity of that folder, and the rights with which
        it is used.
        """
        workspace = await self.resolve(request.workspace, own_name, request.owner)
        return replace(
            request,
            workspace=str(workspace),
            workspace_identity=workspace.identity,
            owner=replace(request.owner, rights=workspace.rights),
        )

    async def resolve(self, folder: str, own_name: str, owner: Owner) -> Workspace:
        """The requested folder by its real path, or with "" a new private folder of the daemon's.

        InvalidInputError (field `workspace`) if it is not a folder, RefusedError if it is not allowed.
        """
        if not folder:
            own = anyio.Path(self.own / own_name)
            await own.mkdir(mode=0o700, parents=True, exist_ok=True)
            return await anyio.to_thread.run_sync(_bound, Path(own), None)
        rights = self._rights_for(owner)
        path = Path(folder)
        if not path.is_absolute() or "\0" in folder:
            raise InvalidInputError(
                f"{folder!r} is not an absolute path: give the workspace as one, such as /srv/project",
                reason="WORKSPACE_NOT_ABSOLUTE",
                field="workspace",
            )
        real = await anyio.to_thread.run_sync(acting_as, rights, partial(_real_folder, path))
        if real is None:
            raise _unusable(folder)
        self._check_allowed(real)
        try:
            return await anyio.to_thread.run_sync(acting_as, rights, partial(_bound, real, rights))
        except OSError as error:  # it was replaced since
            raise _unusable(folder) from error

    async def suspend_if_changed(self, loop: RunLoop) -> None:
        """Suspends a run that continues after a pause, if its workspace is another folder by now or not allowed any
        more.

        A run that is suspended already continues by a person's decision; its tools then refuse the folder.
        """
        workspace = loop.snapshot.workspace
        if workspace.identity and loop.snapshot.state is not RunState.SUSPENDED:
            obstacle = await anyio.to_thread.run_sync(self._obstacle, workspace)
            if obstacle:
                loop.deliver(RunSuspended(SuspendReason.WORKSPACE_CHANGED, obstacle))

    def _obstacle(self, workspace: Workspace) -> str:
        """Blocking. Why a bound workspace cannot be used; "" if it can."""
        try:
            opening = partial(open_bound, workspace, workspace.identity, workspace.rights)
            os.close(acting_as(workspace.rights, opening))
            if not self.is_own(workspace):
                self._check_allowed(Path(workspace))
        except AeondError as error:
            return error.message
        except OSError as error:
            return f"{workspace} cannot be opened: {error.strerror}"
        return ""

    def is_own(self, folder: str) -> bool:
        """Whether it is a private folder of the daemon's."""
        return not folder or Path(folder).is_relative_to(self.own)

    async def remove_own(self, own_name: str) -> None:
        """Removes the private folder of this name with everything in it, if there is one and as far as possible."""
        if own_name.strip(".") and "/" not in own_name:
            await anyio.to_thread.run_sync(partial(shutil.rmtree, self.own / own_name, ignore_errors=True))

    def _rights_for(self, owner: Owner) -> UserRights | None:
        """The rights with which a folder is used for this owner; None for those of the daemon."""
        if owner.uid in (self.user_id, 0):
            return None
        if owner.rights is not None and owner.rights.uid == owner.uid and self.acts_for_others():
            return owner.rights
        raise RefusedError(
            f"the daemon runs as user {self.user_id} and cannot use a folder with the rights of user {owner.uid}:"
            " start a daemon of your own with systemctl --user start aeond, or leave the workspace empty for a"
            " private one",
            reason="WORKSPACE_NOT_YOURS",
            field="workspace",
        )

    def _check_allowed(self, folder: Path) -> None:
        if any(folder == place or folder.is_relative_to(place) for place in self.protected):
            raise RefusedError(
                f"{folder} contains the daemon's own files: choose another workspace",
                reason="WORKSPACE_PROTECTED",
                field="workspace",
            )
        if not any(folder.is_relative_to(root) for root in self.roots):
            allowed = ", ".join(str(root) for root in self.roots)
            raise RefusedError(
                f"{folder} is outside the allowed workspaces: choose a folder below {allowed}",
                reason="WORKSPACE_NOT_ALLOWED",
                field="workspace",
            )


def _unusable(folder: str) -> InvalidInputError:
    return InvalidInputError(
        f"{folder} is not a folder that can be read and entered for you: create it, or choose another workspace",
        reason="WORKSPACE_UNUSABLE",
        field="workspace",
    )


def _bound(folder: Path, rights: UserRights | None) -> Workspace:
    """Blocking. The folder with its identity; its path must have no links."""
    opened = open_folder(str(folder))
    try:
        return Workspace(str(folder), identity_of(opened), rights)
    finally:
        os.close(opened)


def _real_folder(path: Path) -> Path | None:
    """Blocking. The real path, if it is a folder that this thread can read and enter."""
    try:
        real = path.resolve(strict=True)
        readable = os.open(real, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.stat(".", dir_fd=readable)
        finally:
            os.close(readable)
    except (OSError, RuntimeError):
        return None
    return real
