"""Tests say in a sentence what is true of the product."""

import ast
import re
import tomllib
from collections import Counter

import pytest

from tests.support.repository import ROOT, every_test, nodes_of, python_files

# Folder of tests -> folders of sources that it mirrors file for file.
MIRRORED = ("aeond", "clients", "benchmarks")


def sentences_in(docstring: str) -> int:
    """How many sentences a text has: each ends in a full stop, and nothing follows the last."""
    return len(re.findall(r"[.?!](?=\s|$)", docstring)) if docstring.rstrip().endswith((".", "?", "!")) else 0


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("No end", 0), ("One.", 1), ("It is 1.5 of x.y.", 1), ("One. Two.", 2), ("One. two", 0)],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    """The rule below can tell no sentence, one sentence and two apart."""
    assert sentences_in(text) == count


def test_every_test_has_its_sentence() -> None:
    """Each test's docstring is exactly one sentence."""
    wrong = [
        f"{where} {test.name}"
        for where, test in every_test()
        if sentences_in(ast.get_docstring(test) or "") != 1
    ]
    assert wrong == []


def test_no_two_tests_say_the_same() -> None:
    """Each test's sentence is its own within its file."""
    said = Counter((where.split(":")[0], ast.get_docstring(test) or "") for where, test in every_test())
    assert [where for where, count in said.items() if count > 1] == []


def test_unit_tests_mirror_the_sources() -> None:
    """Each file of unit tests stands where the file that it tests stands."""
    units = ROOT / "tests" / "unit"
    lost = []
    for path in python_files("tests/unit"):
        if not path.name.startswith("test_"):
            continue
        source = path.relative_to(units).with_name(path.name.removeprefix("test_"))
        if not any((ROOT / folder / source).is_file() for folder in MIRRORED):
            lost.append(str(path.relative_to(ROOT)))
    assert lost == []


def imported_by_tests() -> set[str]:
    """Every module, or name of a module, that a test file imports."""
    names: set[str] = set()
    for path in python_files("tests"):
        if path.name.startswith("test_"):
            for node in nodes_of(path):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def without_own_tests() -> set[str]:
    """Source modules that have no file of unit tests and that no test file imports."""
    imported = imported_by_tests()
    found = set()
    for path in python_files("aeond", "clients"):
        inside = path.relative_to(ROOT / ("clients" if path.is_relative_to(ROOT / "clients") else "."))
        tests = ROOT / "tests" / "unit" / str(inside).removeprefix("aeond/")
        named = ".".join(inside.with_suffix("").parts) in imported
        if path.name != "__init__.py" and not named and not tests.with_name(f"test_{path.name}").is_file():
            found.add(str(path.relative_to(ROOT)))
    return found


def test_every_source_module_is_tested() -> None:
    """Each source module has unit tests, or a test file imports it, or tests/unit/elsewhere.toml says what covers it."""
    covered = tomllib.loads((ROOT / "tests" / "unit" / "elsewhere.toml").read_text(encoding="utf-8"))
    lacking = without_own_tests()
    places = {name: name if name in covered else f"{name.rpartition('/')[0]}/" for name in lacking}
    assert sorted(name for name, place in places.items() if place not in covered) == []
    assert sorted(set(covered) - set(places.values())) == []
    assert [name for name in covered.values() if not (ROOT / name).is_file()] == []


def test_every_file_of_tests_is_collected() -> None:
    """A file with tests has a name that the test runner looks for."""
    hidden = [
        str(path.relative_to(ROOT))
        for path in python_files("tests")
        if not path.name.startswith("test_") and path.parent.name != "support"
        if re.search(r"^\s*(async )?def test_\w+\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert hidden == []
