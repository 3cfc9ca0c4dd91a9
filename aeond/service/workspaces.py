"""The folders that tools may work in."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio

from aeond.errors import InvalidInputError, RefusedError


class Workspaces:
    """Decides whether a folder may be a workspace, and gives out folders of the daemon's own.

    A workspace lies below one of `roots` and in nothing that is `protected` (the journal, the
    configuration, secrets): whoever may write there could change what the daemon believes, and whoever may
    read there would know what it keeps to itself. It may lie above: a user's home is a fair workspace, and
    the file tools keep out of what is protected in it.
    """

    def __init__(self, *, own: Path, roots: Sequence[Path], protected: Sequence[Path]) -> None:
        self._own = own
        self._roots = tuple(roots)
        self._protected = tuple(protected)

    async def resolve(self, folder: str, own_name: str) -> str:
        """The real path of the folder that was asked for, or with "" one of the daemon's own, made now.

        InvalidInputError (field `workspace`) when it is no folder, RefusedError when it is not allowed.
        """
        if not folder:
            own = anyio.Path(self._own / own_name)
            await own.mkdir(mode=0o700, parents=True, exist_ok=True)
            return str(own)
        path = Path(folder)
        if not path.is_absolute() or "\0" in folder:
            raise InvalidInputError(
                f"{folder!r} is no absolute path: give the workspace as one, such as /srv/project",
                reason="WORKSPACE_NOT_ABSOLUTE",
                field="workspace",
            )
        real = await anyio.to_thread.run_sync(_real_folder, path)
        if real is None:
            raise InvalidInputError(
                f"{folder} is no folder that the daemon can read and enter: make it, or choose another workspace",
                reason="WORKSPACE_UNUSABLE",
                field="workspace",
            )
        self._check_allowed(real)
        return str(real)

    def is_own(self, folder: str) -> bool:
        """Whether it is one of those that were given out to runs whose clients named none."""
        return not folder or Path(folder).is_relative_to(self._own)

    def _check_allowed(self, folder: Path) -> None:
        if any(folder == place or folder.is_relative_to(place) for place in self._protected):
            raise RefusedError(
                f"{folder} holds the daemon's own files: choose another workspace",
                reason="WORKSPACE_PROTECTED",
                field="workspace",
            )
        if not any(folder.is_relative_to(root) for root in self._roots):
            allowed = ", ".join(str(root) for root in self._roots)
            raise RefusedError(
                f"{folder} is outside of what the configuration allows as a workspace: {allowed}",
                reason="WORKSPACE_NOT_ALLOWED",
                field="workspace",
            )


def _real_folder(path: Path) -> Path | None:
    """Where the path really leads, if that is a folder the daemon can read and enter."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return real if real.is_dir() and os.access(real, os.R_OK | os.X_OK) else None
