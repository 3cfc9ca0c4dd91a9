from pathlib import Path

import pytest

from aeond.capabilities.journal.writer.reserve import Reserve
from tests.support.small_disk import fill, small_disk


def test_a_reserve_holds_real_room(tmp_path: Path) -> None:
    """The reserve has its blocks on the disk, so that freeing it gives room; making it twice changes nothing."""
    reserve = Reserve(tmp_path / "reserve", 1 << 20)
    assert reserve.make()
    assert reserve.make()
    assert (tmp_path / "reserve").stat().st_blocks * 512 >= 1 << 20
    reserve.free()
    reserve.free()
    assert list(tmp_path.iterdir()) == []


def test_room_that_was_just_freed_is_not_taken_back(tmp_path: Path) -> None:
    """On a full disk the freed reserve stays free for last words, until there is room besides."""
    with small_disk(tmp_path / "disk", 1 << 20) as disk:
        reserve = Reserve(disk / "reserve", 128 << 10)
        assert reserve.make()
        ballast = fill(disk)
        assert reserve.make()
        reserve.free()
        assert reserve.room >= 128 << 10
        assert not reserve.make()
        assert not (disk / "reserve").exists()
        ballast.unlink()
        assert reserve.make()


def test_a_reserve_in_no_folder_is_an_error(tmp_path: Path) -> None:
    """Errors other than a full disk are not treated as one."""
    with pytest.raises(FileNotFoundError):
        Reserve(tmp_path / "missing" / "reserve", 4096).make()
