"""Folders for sockets and what else nobody but this user may reach."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from aeond.errors import RefusedError


def make_private(folder: Path) -> None:
    """Makes the folder if need be, and makes sure that nobody else gets in.

    RefusedError (reason FOLDER_NOT_OURS) when there is a link, a file or somebody else's folder in its place:
    whoever put it there would choose where our sockets lie. OSError when it cannot be made.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise RefusedError(f"{folder} is no folder of this user's: move it away", reason="FOLDER_NOT_OURS")
    folder.chmod(0o700)
