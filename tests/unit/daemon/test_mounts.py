"""Other names of files by further mounts."""

from pathlib import Path

import pytest

from aeond.daemon.mounts import other_names

ROOT = "20 1 8:1 / / rw - ext4 /dev/a rw"
DATA = "21 20 8:2 / /data rw - ext4 /dev/b rw"
HOME = "22 20 8:2 /home /home rw - ext4 /dev/b rw"
OWN = Path("/home/u/.local/state/aeond")


def names(tmp_path: Path, place: Path, *lines: str) -> list[str]:
    table = tmp_path / "mountinfo"
    table.write_text("".join(f"{line}\n" for line in lines))
    return [str(name) for name in other_names([place], table)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([ROOT], []),
        ([ROOT, DATA, HOME], ["/data/home/u/.local/state/aeond"]),
        (
            [ROOT, "21 20 8:1 /home/u /srv/my\\040home rw - ext4 /dev/a rw"],
            ["/srv/my home/.local/state/aeond"],
        ),
        ([ROOT, "21 20 8:1 /home/u/.local/state/aeond/models /srv/m rw - ext4 /dev/a rw"], ["/srv/m"]),
        ([ROOT, "21 20 8:1 /home/v /srv/v rw - ext4 /dev/a rw"], []),
        ([ROOT, "21 20 8:3 /home /srv rw - ext4 /dev/c rw"], []),
        ([ROOT, DATA, HOME, "23 21 8:3 / /data/home rw - ext4 /dev/c rw"], []),
    ],
    ids=["none", "bind mount", "escaped", "a part", "another folder", "another device", "covered"],
)
def test_other_names_of_a_place(tmp_path: Path, lines: list[str], found: list[str]) -> None:
    """A mount of the same file system gives a place a further name, unless another mount covers it."""
    assert names(tmp_path, OWN, *lines) == found


def test_no_table(tmp_path: Path) -> None:
    """Without the table of mounts no further names are known."""
    assert other_names([OWN], tmp_path / "none") == ()
