"""The existing file that an inexact path means."""

from pathlib import Path

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.path_matching import (
    MAX_NAMED,
    PathMatching,
    Wanted,
    exact_file,
    file_target,
)
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.domain.policy import Access
from aeond.errors import ToolError

FILES = (
    "Travel.csv",
    "note_ida.md",
    "note_ole.md",
    "plans/q3.txt",
    "plans/budget.md",
    "old/budget.md",
    "old/Shopping List.txt",
    ".hidden/secret.txt",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def matching(*roots: Path) -> PathMatching:
    return PathMatching(ContainedFiles(resolve_in_kernel, [str(root) for root in roots]))


def find(place: Path, path: str, wanted: Wanted = Wanted.FILE) -> str:
    return matching().find(path, str(place), wanted, lambda: False)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("Travel.csv", "Travel.csv"),
        ("./plans//q3.txt", "plans/q3.txt"),
        ("plans/../Travel.csv", "plans/../Travel.csv"),
        (" 'Travel.csv' ", "Travel.csv"),
        ("\u201cTravel.csv\u201d", "Travel.csv"),
        ("plans\\q3.txt", "plans/q3.txt"),
        ("/plans/q3.txt", "plans/q3.txt"),
        ("travel.CSV", "Travel.csv"),
        ("PLANS/Q3.TXT", "plans/q3.txt"),
        ("travel", "Travel.csv"),
        ("q3.txt", "plans/q3.txt"),
        ("work/plans/q3.txt", "plans/q3.txt"),
        ("plans/travel.csv", "Travel.csv"),
        ("q3", "plans/q3.txt"),
        ("shopping_list.txt", "old/Shopping List.txt"),
        ("shopping-list", "old/Shopping List.txt"),
        ("shoping list.txt", "old/Shopping List.txt"),
        ("travel.txt", "Travel.csv"),
        ("travell.csv", "Travel.csv"),
        ("new/plans/budget.md", ""),
        ("plans/Budget", "plans/budget.md"),
    ],
)
def test_the_one_file_that_is_meant_is_found(place: Path, path: str, meant: str) -> None:
    """Another case, extension, folder, spacing, quoting or letter leads to the only file that fits."""
    if meant:
        assert find(place, path) == meant
    else:
        with pytest.raises(ToolError) as refused:
            find(place, path)
        assert refused.value.reason == "PATH_AMBIGUOUS"


def test_several_that_fit_are_candidates(place: Path) -> None:
    """A path that several files fit is refused with them, unless one is in the named folder."""
    with pytest.raises(ToolError) as refused:
        find(place, "budget.md")
    assert (refused.value.reason, refused.value.field) == ("PATH_AMBIGUOUS", "path")
    assert refused.value.candidates == ("old/budget.md", "plans/budget.md")
    assert "'old/budget.md', 'plans/budget.md'" in refused.value.message
    assert find(place, "old/budget") == "old/budget.md"


@pytest.mark.parametrize("path", ["zebra.png", "note_eva.md", "secret.txt", "note"])
def test_nothing_that_fits_is_an_error_with_candidates(place: Path, path: str) -> None:
    """A path that no file fits is refused; the nearest names come first, hidden folders are not entered."""
    with pytest.raises(ToolError) as refused:
        find(place, path)
    assert (refused.value.reason, refused.value.field) == ("FILE_NOT_FOUND", "path")
    assert 0 < len(refused.value.candidates) <= MAX_NAMED
    assert set(refused.value.candidates) < set(FILES)
    if path.startswith("note"):
        assert set(refused.value.candidates[:2]) == {"note_ida.md", "note_ole.md"}


@pytest.mark.parametrize("path", ["../Travel.csv", "/etc/Travel.csv", "plans/../../Travel.csv"])
def test_a_path_that_leads_outside_means_nothing_inside(place: Path, path: str) -> None:
    """A path outside is refused as such, although a file inside has the same name."""
    with pytest.raises(ToolError) as refused:
        find(place, path)
    assert refused.value.reason == "PATH_OUTSIDE"


def test_a_folder_is_no_file(place: Path) -> None:
    """The path of a folder where a file is wanted is refused with the files in it."""
    with pytest.raises(ToolError) as refused:
        find(place, "plans")
    assert refused.value.reason == "NOT_A_FILE"
    assert refused.value.candidates == ("plans/budget.md", "plans/q3.txt")


def test_folders_are_found_too(place: Path) -> None:
    """Where a folder is wanted, folders match inexactly, and the exact path of a file is accepted."""
    assert find(place, "Plans/", Wanted.FOLDER) == "plans"
    assert find(place, "Travel.csv", Wanted.FOLDER) == "Travel.csv"
    assert find(place, "/", Wanted.FOLDER) == "."
    assert find(place, "travel", Wanted.ANY) == "Travel.csv"
    assert find(place, "OLD", Wanted.ANY) == "old"


def test_only_the_same_path_will_do_where_content_is_lost(place: Path) -> None:
    """For a deletion or a replacement, case, quotes and a leading slash may differ, and nothing else."""

    def find_same(path: str) -> str:
        return matching().find_same(path, str(place), lambda: False)

    for path in ("Travel.csv", "travel.csv", "'TRAVEL.csv'", "/Travel.csv"):
        assert find_same(path) == "Travel.csv"
    for path in ("travel", "q3.txt", "travell.csv", "travel.txt", "shopping list.txt"):
        with pytest.raises(ToolError) as refused:
            find_same(path)
        assert refused.value.reason == "FILE_NOT_FOUND"
        assert refused.value.candidates


def test_names_in_readable_folders_are_absolute(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A file of a readable folder is found and proposed under its absolute path."""
    other = tmp_path_factory.mktemp("other")
    (other / "Atlas.txt").touch()
    found = matching(other)
    assert found.find("atlas.txt", str(place), Wanted.FILE, lambda: False) == str(other / "Atlas.txt")
    assert str(other / "Atlas.txt") in found.candidates(str(place), Wanted.FILE, 50, "", lambda: False)


def test_candidates_are_the_nearest(place: Path) -> None:
    """All paths are proposed in order if they fit, else those nearest to the name or the request."""

    def candidates(limit: int, near: str) -> list[str]:
        return list(matching().candidates(str(place), Wanted.FILE, limit, near, lambda: False))

    assert candidates(50, "") == sorted(name for name in FILES if not name.startswith(".hidden"))
    assert candidates(1, "travell") == ["Travel.csv"]
    request = "please have a look at the budget, " + "and then at nothing else " * 10 + "in plans"
    assert candidates(1, request) == ["plans/budget.md"]


def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    """A name with control characters is proposed to no one."""
    (tmp_path / "page\n1.txt").touch()
    assert matching().candidates(str(tmp_path), Wanted.FILE, 5, "", lambda: False) == []
    with pytest.raises(ToolError) as refused:
        find(tmp_path, "chapter.txt")
    assert refused.value.candidates == ()


def test_a_list_that_is_not_complete_is_no_list(place: Path) -> None:
    """If not everything was seen, no list is proposed that could be taken for complete."""
    deep = place
    for level in range(10):
        deep /= f"d{level}"
    deep.mkdir(parents=True)
    assert matching().candidates(str(place), Wanted.FILE, 50, "", lambda: False) == ()


@pytest.mark.parametrize("path", ["Travel.csv", "./plans//q3.txt", "plans/../Travel.csv", "note_ida.md/"])
def test_an_exact_path_is_found_with_one_look(place: Path, path: str) -> None:
    """A path that names an existing file exactly is the same file for the policy, however it is found."""
    files, here = ContainedFiles(resolve_in_kernel), str(place)
    same = PathMatching(files).find_same(path, here, lambda: False)
    assert exact_file(files, path, here, Access.WRITE) == (same, file_target(files, same, here, Access.WRITE))


@pytest.mark.parametrize(
    "path", ["", "plans", "travel.CSV", "new.txt", "new/new.txt", "/etc/passwd", "../x", "a\0b"]
)
def test_any_other_path_is_looked_for(place: Path, path: str) -> None:
    """A folder, an inexact path, a new file, and a path that may not be used are not found exactly."""
    assert exact_file(ContainedFiles(resolve_in_kernel), path, str(place), Access.WRITE) is None
