"""Which files may have been meant."""

from pathlib import Path

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.files.similar_names import MAX_NAMES, similar_names

FILES = ("travel.csv", "note_ida.md", "note_ole.md", "plans/q3.txt", "plans/.hidden.txt")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def names(place: Path, path: str) -> tuple[str, ...]:
    return similar_names(ContainedFiles(resolve_in_kernel), path, str(place))


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("travel.txt", "travel.csv"),
        ("Travel.CSV", "travel.csv"),
        ("note_idda.md", "note_ida.md"),
        ("ida.md", "note_ida.md"),
        ("notes/ida.md", "note_ida.md"),
        ("plan/q3.txt", "plans"),
        ("plans/q4.txt", "plans/q3.txt"),
        ("a/b/c/travel.csv", "travel.csv"),
    ],
)
def test_the_likeliest_comes_first(place: Path, path: str, first: str) -> None:
    """Another ending, case, letter or folder leads to the name that there is."""
    assert names(place, path)[0] == first


@pytest.mark.parametrize(
    "path", ["zebra.png", "x", "plans/hidden.txt/x", "../travel.txt", "\0", "/etc/passwt"]
)
def test_nothing_alike_is_nothing(place: Path, path: str) -> None:
    """Neither what is unlike, nor hidden, nor outside is named."""
    assert names(place, path) == ()


def test_names_are_few(tmp_path: Path) -> None:
    """However many are alike, three are named at most."""
    for number in range(20):
        (tmp_path / f"page{number}.txt").touch()
    assert len(names(tmp_path, "page.txt")) == MAX_NAMES == 3


def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    """A name with control characters is nobody's suggestion."""
    (tmp_path / "page\n1.txt").touch()
    assert names(tmp_path, "page1.txt") == ()
