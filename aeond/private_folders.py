"""Folders and files that only this user may access."""

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from aeond.errors import RefusedError

log = logging.getLogger("aeond.daemon")


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


def close_to_others(place: Path) -> None:
    """Removes the access of other users to a folder or file that exists, with a warning in the log.

    Links are followed. RefusedError (reason FOLDER_NOT_OURS) if it belongs to another user, who could change it at
    any time. OSError if it cannot be examined or changed.
    """
    found = place.stat()
    if found.st_uid != os.geteuid():
        raise RefusedError(
            f"{place} belongs to another user (uid {found.st_uid}): run the daemon as that user, or run chown on it",
            reason="FOLDER_NOT_OURS",
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        place.chmod(mode & 0o700)
        log.warning(
            "%s was accessible to other users (mode %04o) and is closed to them now: check that they did not"
            " change its content",
            place,
            mode,
        )
