"""Folders are concepts: small, with a face, and independent of each other."""

import ast
from collections import Counter

import pytest

from tests.support.repository import ROOT, source_files, tree_of

FOLDER_FILES = 12
# Folders that may exceed the limit temporarily, with their present size. The list may only get shorter.
LARGER_FOLDERS: dict[str, int] = {}

PACKAGES = [path for path in source_files("aeond", "clients") if path.name == "__init__.py"]


def test_no_folder_of_sources_holds_more_than_twelve_files() -> None:
    """A folder of sources has at most 12 Python files, its `__init__.py` and generated ones included."""
    sizes = Counter(str(path.parent.relative_to(ROOT)) for path in source_files("aeond", "clients"))
    assert {
        folder: size for folder, size in sizes.items() if size > LARGER_FOLDERS.get(folder, FOLDER_FILES)
    } == {}


def test_folders_on_the_list_of_larger_ones_are_larger() -> None:
    """A folder that has shrunk to the limit is taken off the list of exceptions."""
    sizes = Counter(str(path.parent.relative_to(ROOT)) for path in source_files("aeond", "clients"))
    assert [folder for folder in LARGER_FOLDERS if sizes[folder] <= FOLDER_FILES] == []


def test_every_folder_of_sources_is_a_package() -> None:
    """A folder with Python files has an `__init__.py`."""
    folders = {path.parent for path in source_files("aeond", "clients")}
    assert sorted(str(f.relative_to(ROOT)) for f in folders - {path.parent for path in PACKAGES}) == []


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_every_package_has_a_face(path: object) -> None:
    """The docstring of a package says in three lines what it is, where to enter, and what it must not know."""
    assert isinstance(path, type(ROOT))
    text = ast.get_docstring(tree_of(path)) or ""
    first, _, rest = text.partition("\n\n")
    lines = rest.splitlines()
    assert first
    assert "\n" not in first
    assert [line.split(":")[0] for line in lines[:1]] == ["Entry point"]
    assert [line[:13] for line in lines[1:2]] == ["Must not know"]
    assert lines[2:3] in ([], [""])
