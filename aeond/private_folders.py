"""Private folders for sockets and other files that only this user may access."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from aeond.errors import RefusedError


def make_private(folder: Path) -> None:
    """Creates the folder if needed and removes access for all other users.

    RefusedError (reason FOLDER_NOT_OURS) if its path is a link, a file or a folder of another user, who could
    then choose where our sockets are created. OSError if it cannot be created.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise RefusedError(
            f"{folder} is not a folder owned by this user: move it away", reason="FOLDER_NOT_OURS"
        )
    folder.chmod(0o700)
