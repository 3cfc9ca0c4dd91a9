"""The documentation says what the code does."""

import ast
import re

from tests.support import conformance_table, support_index
from tests.support.diagrams import PAGE, with_diagrams
from tests.support.repository import ROOT, occurrences, python_files, tree_of


def test_the_diagrams_are_current() -> None:
    """The diagrams in docs/architecture.md are those of the transition tables and of the imports."""
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("stateDiagram-v2") == 2
    assert page.count("flowchart TD") > 2
    assert page == with_diagrams(page), "run: python -m tests.support.diagrams"


def test_the_index_of_the_support_modules_is_current() -> None:
    """tests/support/README.md lists each module of the folder with the first paragraph of its docstring."""
    assert support_index.PAGE.read_text(encoding="utf-8") == support_index.index(), (
        "run: python -m tests.support.support_index"
    )


def test_the_table_of_clients_and_cases_is_current() -> None:
    """docs/clients.md shows a run of the present suite, in which every client passed every case."""
    page = conformance_table.PAGE.read_text(encoding="utf-8")
    assert page.count("\n| **") > 10
    assert page == conformance_table.as_passed(page), "run: python -m tests.support.conformance_table"


def test_every_support_module_says_what_it_offers() -> None:
    """Each module of tests/support has a docstring, whose first paragraph is its line in the index."""
    assert [path.name for path in python_files("tests/support") if not ast.get_docstring(tree_of(path))] == []


def test_links_between_pages_lead_somewhere() -> None:
    """Each relative link in README and docs names a file of this repository."""
    broken = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_long_variant_is_explained() -> None:
    """docs/testing.md names each file of tests with parts that only `make nightly` runs."""
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    files = {
        line.split(":")[0]
        for line in occurrences(re.compile(r"pytest\.mark\.nightly"), python_files("tests"))
    }
    names = [name.removeprefix("tests/").removesuffix(".py") for name in sorted(files)]
    assert names
    assert [name for name in names if f"`{name}`" not in page] == []
