"""The recipes of docs/how-to-change.md describe this tree."""

import re
from collections.abc import Iterator

import pytest

from tests.support.repository import ROOT, is_generated, markdown_rows, python_files

PAGE = ROOT / "docs" / "how-to-change.md"
HEADINGS = re.findall(r"^## (.+: at most \d+ files)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


ALONE = "No other source names `"


def section(heading: str) -> str:
    return PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]


def steps(heading: str) -> Iterator[tuple[str, str]]:
    """Each file of a recipe, with the text that the last such change wrote into it."""
    for file, _, example in markdown_rows(PAGE, heading):
        yield file.strip("`"), example.strip("`")


def test_the_recipes_have_their_limits() -> None:
    """There is a recipe for each usual change, and none allows more files than was agreed."""
    limits = {heading.partition(":")[0]: int(heading.split()[-2]) for heading in HEADINGS}
    agreed = {
        "A field of an event": 4,
        "A kind of event": 6,
        "A key of the configuration": 3,
        "A command of aeonctl": 4,
        "A built-in tool": 2,
        "An adapter to an engine": 4,
    }
    assert limits == agreed


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_recipe_names_the_files_of_the_last_change(heading: str) -> None:
    """Each file of a recipe is hand-written and contains what the last change wrote, and there are not too many."""
    files = dict(steps(heading))
    assert 0 < len(files) <= int(heading.split()[-2])
    for file, example in files.items():
        assert not is_generated(ROOT / file), file
        assert example in (ROOT / file).read_text(encoding="utf-8"), (file, example)


@pytest.mark.parametrize("heading", [heading for heading in HEADINGS if ALONE in section(heading)])
def test_a_recipe_is_complete(heading: str) -> None:
    """Where a recipe says that no other source has a name, each hand-written source with it is in the recipe."""
    found = section(heading).partition(ALONE)[2].partition("`")[0]
    name = re.compile(rf"\b{re.escape(found)}\b")
    sources = [*python_files("aeond", "clients"), *(ROOT / "protos").rglob("*.proto")]
    naming = {
        str(path.relative_to(ROOT)) for path in sources if name.search(path.read_text(encoding="utf-8"))
    }
    assert naming <= set(dict(steps(heading)))


def test_every_file_on_the_page_exists() -> None:
    """Each path that the page names is a file or folder of this repository."""
    text = PAGE.read_text(encoding="utf-8")
    paths = re.findall(r"(?:aeond|clients|protos|tests|docs|package|systemd)/[\w./-]*\w", text)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
