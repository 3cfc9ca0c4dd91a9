"""Private folders."""

import os
import stat
from pathlib import Path

import pytest

from aeond.errors import RefusedError
from aeond.private_folders import close_to_others, make_private


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_made_for_this_user_alone(tmp_path: Path) -> None:
    """It is made with those above it, and one that is there already is closed to others."""
    folder = tmp_path / "a" / "b"
    make_private(folder)
    assert mode_of(folder) == 0o700
    folder.chmod(0o755)
    make_private(folder)
    assert mode_of(folder) == 0o700


@pytest.mark.parametrize("kind", ["link", "dangling link", "file"])
def test_a_link_is_rejected_and_left_alone(tmp_path: Path, kind: str) -> None:
    """A link is not followed, and what lies at its end keeps its permissions."""
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "place"
    if kind == "file":
        place.touch(mode=0o644)
    else:
        place.symlink_to(elsewhere)
    if kind == "link":
        elsewhere.mkdir(mode=0o755)
    with pytest.raises(
        RefusedError, match=r"place is not a folder owned by this user: move it away$"
    ) as refused:
        make_private(place)
    assert refused.value.reason == "FOLDER_NOT_OURS"
    if kind == "dangling link":
        assert not elsewhere.exists()
    else:
        assert mode_of(place) in {0o755, 0o644}


def test_the_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that another user made before us is not used, also by root, who could."""
    folder = tmp_path / "place"
    folder.mkdir()
    folder.chmod(0o755)
    another_user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another_user)
    with pytest.raises(RefusedError) as refused:
        make_private(folder)
    assert refused.value.reason == "FOLDER_NOT_OURS"
    assert mode_of(folder) == 0o755


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o640])
def test_access_of_others_is_removed_with_a_word(
    tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder or file that others could use is closed to them, and the log names it."""
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(mode)
    close_to_others(place)
    assert mode_of(place) == mode & 0o700
    assert f"{place} was accessible to other users (mode {mode:04o})" in caplog.text
    caplog.clear()
    close_to_others(place)
    assert caplog.text == ""


def test_a_folder_of_another_user_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place of another user, who could open it again, is refused with what to do."""
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(RefusedError, match="belongs to another user") as refused:
        close_to_others(tmp_path)
    assert refused.value.reason == "FOLDER_NOT_OURS"
