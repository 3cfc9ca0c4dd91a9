"""One word for one thing, and no words that say nothing."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.repository import (
    ROOT,
    markdown_rows,
    nodes_of,
    occurrences,
    place,
    python_files,
    text_files,
)

EMPTY_WORDS = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "base",
    "manager",
    "handler",
    "processor",
    "impl",
}
VOCABULARY = ROOT / "docs" / "vocabulary.md"

# Words that the project does not use, and their replacements.
REPLACED = {row[0]: row[1] for row in markdown_rows(VOCABULARY, "Replaced words")}

# Words with a single meaning: a name with this part stands only in these places.
MEANINGS = {
    row[0]: [place.strip(" `") for place in row[2].split(",")]
    for row in markdown_rows(VOCABULARY, "Words with one meaning")
}

UNFINISHED = re.compile(
    r"\b(TODO|FIXME|XXX|HACK|NotImplementedError|not implemented yet|placeholder(?!-text-color)|for now|hard-?coded)\b"
)
HOSTS = re.compile(r"pypi[.]org|python[h]osted|registry[.]npm|npmjs[.]|deb[.]debian|hugging[f]ace[.]co/api")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|farm|root)/\w|/tmp/[a-z]+/")


def words_of(name: str) -> set[str]:
    """The words of a snake_case or CamelCase name, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def prose() -> list[Path]:
    """Documents for people: pages, the contract and README."""
    pages = [path for path in text_files() if path.suffix in {".md", ".proto"}]
    return [path for path in pages if path != VOCABULARY and path.name != "CHANGELOG.md"]


@cache
def definitions() -> tuple[tuple[Path, int, str], ...]:
    """File, line and name of every class and function of the product."""
    return tuple(
        (path, node.lineno, node.name)
        for path in python_files("aeond", "clients")
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    )


def test_module_names_say_what_is_inside() -> None:
    """No module or folder is named for a word that fits everything."""
    assert [
        str(path.relative_to(ROOT))
        for path in python_files()
        if EMPTY_WORDS & {word for part in path.relative_to(ROOT).parts for word in words_of(part)}
    ] == []


def test_class_names_say_what_they_are() -> None:
    """No class of ours is a manager, a handler, a processor, a helper or an implementation."""
    assert [
        f"{place(path, node.lineno)} {node.name}"
        for path in python_files("aeond", "clients")
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef) and EMPTY_WORDS & words_of(node.name)
    ] == []


def test_fields_use_our_words() -> None:
    """No field of the domain is a bare id or a status: it is a run_id, and a state."""
    assert [
        f"{place(path, node.lineno)} {node.target.id}"
        for path in python_files("aeond/domain")
        for node in nodes_of(path)
        if isinstance(node, ast.AnnAssign)
        if isinstance(node.target, ast.Name) and node.target.id in {"id", "status", "type_", "id_"}
    ] == []


@pytest.mark.parametrize("word", sorted(REPLACED))
def test_pages_and_contracts_use_our_words(word: str) -> None:
    """A reader never meets a second word for a thing that has one."""
    pattern = re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE)
    assert occurrences(pattern, prose()) == []


@pytest.mark.parametrize("word", sorted(word for word in REPLACED if " " not in word))
def test_names_in_code_use_our_words(word: str) -> None:
    """A class or function never carries a word that the vocabulary replaces."""
    assert [
        f"{place(path, line)} {name}" for path, line, name in definitions() if word.lower() in words_of(name)
    ] == []


@pytest.mark.parametrize("part", sorted(MEANINGS))
def test_a_word_has_one_meaning_in_names(part: str) -> None:
    """A word with a defined meaning names nothing else."""
    allowed = MEANINGS[part]
    assert [
        f"{place(path, line)} {name}"
        for path, line, name in definitions()
        if any(word.startswith(part) for word in words_of(name))
        if not any(str(path.relative_to(ROOT)).startswith(where) for where in allowed)
        if name not in allowed
    ] == []


def test_nothing_says_of_itself_that_it_is_unfinished() -> None:
    """No source admits to work that is left to do."""
    contracts = [path for path in text_files() if path.suffix in {".proto", ".toml", ".service"}]
    sources = python_files("aeond", "clients", "benchmarks", "protos")
    assert occurrences(UNFINISHED, contracts + sources) == []


def test_no_file_names_a_registry() -> None:
    """Where packages come from is the machine's business: no file names a registry's host."""
    assert occurrences(HOSTS, text_files()) == []


def test_no_file_names_a_place_on_one_machine() -> None:
    """No file holds a path that exists on one person's machine."""
    assert occurrences(MACHINE_PATHS, text_files()) == []
