"""Files that this process may not use, as another user's are, also where the tests are run by root."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aeond.user_rights import UserRights

OTHER_UID = 65_534  # nobody, on Debian


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that everybody can enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def as_user(rights: UserRights) -> Iterator[None]:
    """The whole process with the rights of this user; only root can change to them, and back."""
    groups = os.getgroups()
    os.setgroups(rights.group_ids)
    os.setresgid(rights.gid, rights.gid, 0)
    os.setresuid(rights.uid, rights.uid, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


@contextmanager
def as_outsider(*places: Path) -> Iterator[None]:
    """Without access to these places: as user nobody if the tests run as root, otherwise with permissions
    removed."""
    modes = {place: place.stat().st_mode & 0o777 for place in places}
    ours = os.getuid()
    for place in places:
        place.chmod(0 if ours else 0o700)
    if ours == 0:
        os.setresuid(OTHER_UID, OTHER_UID, 0)  # the way back is kept
    try:
        yield
    finally:
        os.setresuid(ours, ours, ours)
        for place, mode in modes.items():
            place.chmod(mode)
