"""The folders in which tools may work."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio

from aeond.errors import InvalidInputError, RefusedError


class Workspaces:
    """Checks whether a folder may be a workspace, and creates private workspaces.

    A workspace must be below one of `roots` and not inside a `protected` folder (the journal, the
    configuration, secrets): write access there would change the daemon's state, and read access would
    disclose its secrets. It may contain protected folders: a user's home is a valid workspace, and the file
    tools exclude the protected parts.
    """

    def __init__(self, *, own: Path, roots: Sequence[Path], protected: Sequence[Path]) -> None:
        self._own = own
        self._roots = tuple(roots)
        self._protected = tuple(protected)

    async def resolve(self, folder: str, own_name: str) -> str:
        """The real path of the requested folder, or with "" a new private folder of the daemon's.

        InvalidInputError (field `workspace`) if it is not a folder, RefusedError if it is not allowed.
        """
        if not folder:
            own = anyio.Path(self._own / own_name)
            await own.mkdir(mode=0o700, parents=True, exist_ok=True)
            return str(own)
        path = Path(folder)
        if not path.is_absolute() or "\0" in folder:
            raise InvalidInputError(
                f"{folder!r} is not an absolute path: give the workspace as one, such as /srv/project",
                reason="WORKSPACE_NOT_ABSOLUTE",
                field="workspace",
            )
        real = await anyio.to_thread.run_sync(_real_folder, path)
        if real is None:
            raise InvalidInputError(
                f"{folder} is not a folder that the daemon can read and enter: create it, or choose"
                " another workspace",
                reason="WORKSPACE_UNUSABLE",
                field="workspace",
            )
        self._check_allowed(real)
        return str(real)

    def is_own(self, folder: str) -> bool:
        """Whether it is a private folder of the daemon's."""
        return not folder or Path(folder).is_relative_to(self._own)

    def _check_allowed(self, folder: Path) -> None:
        if any(folder == place or folder.is_relative_to(place) for place in self._protected):
            raise RefusedError(
                f"{folder} contains the daemon's own files: choose another workspace",
                reason="WORKSPACE_PROTECTED",
                field="workspace",
            )
        if not any(folder.is_relative_to(root) for root in self._roots):
            allowed = ", ".join(str(root) for root in self._roots)
            raise RefusedError(
                f"{folder} is outside the allowed workspaces: choose a folder below {allowed}",
                reason="WORKSPACE_NOT_ALLOWED",
                field="workspace",
            )


def _real_folder(path: Path) -> Path | None:
    """The real path, if it is a folder that the daemon can read and enter."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return real if real.is_dir() and os.access(real, os.R_OK | os.X_OK) else None
