"""How much of what a case says stands in one example of the prompts."""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.repository import ROOT, python_files, tree_of

PROMPTS: Final = (
    "aeond/orchestration/prompts",
    "aeond/capabilities/tools/editing",
    "aeond/capabilities/tools/tables",
    "aeond/capabilities/tools/calculator",
)
MOST_SHARED: Final = 0.5
INSTRUCTION_SHARE: Final = 0.33  # a passage that shares less of its own words is an instruction, no example
SHORT_WORD: Final = 2  # letters
PASSAGE: Final = re.compile(r"[^\n.!?]+")
WORD: Final = re.compile(r"\w+")
FEWEST_WORDS: Final = 3  # fewer are shared by chance


class Overlap(NamedTuple):
    """A passage of a prompt, the case that it resembles, and the share of what the case says."""

    passage: str
    case: str
    share: float


def passages(folders: Sequence[str] = PROMPTS) -> Iterator[str]:
    """Every line or sentence in a text of the folders, docstrings left out, and in their files that are no code."""
    for folder in folders:
        for path in python_files(folder):
            yield from _passages_of(path)
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix not in {".py", ".pyc"}:
                yield from PASSAGE.findall(path.read_text("utf-8"))


def _passages_of(path: Path) -> Iterator[str]:
    tree = tree_of(path)
    documented = {
        ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in documented:
            yield from PASSAGE.findall(node.value)


def overlaps(texts: Iterable[str], cases: Sequence[str]) -> Iterator[Overlap]:
    """The passages that share more than half of what a case's words say.

    A word says the more, the fewer cases have it; this holds in every language without a list of words.
    """
    worded = [(case, words_of(case)) for case in cases]
    frequency = Counter(word for _, words in worded for word in words)
    weight = {word: math.log((len(cases) + 1) / count) for word, count in frequency.items()}
    for text in texts:
        said = words_of(text)
        for case, words in worded:
            shared = words & said
            if len(shared) < FEWEST_WORDS or len(shared) <= INSTRUCTION_SHARE * len(said):
                continue
            share = sum(map(weight.__getitem__, shared)) / sum(map(weight.__getitem__, words))
            if share > MOST_SHARED:
                yield Overlap(text.strip(), case, share)


def words_of(text: str) -> frozenset[str]:
    """The words of a text and its numbers, without short words."""
    found = (word.casefold() for word in WORD.findall(text))
    return frozenset(word for word in found if word.isdigit() or len(word) > SHORT_WORD)


_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
