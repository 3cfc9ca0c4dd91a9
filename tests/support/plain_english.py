"""Counts the words and phrases of the project's former dialect in everything that people read.

`python -m tests.support.plain_english [--list] [PATH ...]` prints the rate per 1,000 words of prose, the
count of each marker and the files with the highest counts; `--list` prints every occurrence. Prose is
docstrings, comments, messages in string literals of the sources, Markdown pages and the comments of contracts,
units and configuration files. Code, code spans and fenced blocks are not prose.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.repository import GENERATED, ROOT, nodes_of, text_files

# The start of a clause: after it, "what is" and "what was" are the subject of a sentence, not an indirect
# question.
CLAUSE: Final = r"(?:^|[.;:,(]\s+|\b(?:and|but|that|whether|because|if|so)\s+)"

MARKERS: Final = {
    name: re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for name, pattern in {
        "told": r"\btold\b",
        "tell of": r"\b(?:tells?|telling)\s+of\b",
        "anew": r"\banew\b",
        "nobody": r"\bnobody\b",
        "somebody": r"\bsomebody\b",
        "whoever": r"\bwho(?:so)?ever\b",
        "mend": r"\bmend(?:s|ed|er|ing)?\b",
        "what is (as a subject)": CLAUSE + r"what\s+(?:is|was|are|were)\b(?!(?:[^.?!]|\.\d)*\?)",
        "as it was said": r"\bas\s+(?:it|they)\s+(?:was|were|is|are)\s+said\b",
        "by its form": r"\bby\s+(?:its|their|the)\s+forms?\b",
        "give up": r"\bg(?:i|a)v(?:e|es|en|ing)\s+(?:it\s+)?up\b",
        "at hand": r"\bat\s+hand\b",
        "in the midst": r"\bin\s+the\s+midst\b",
        "the like": r"\bthe\s+likes?\b",
        "likewise": r"\blikewise\b",
        "held up": r"\bh(?:e|o)ld(?:s|ing)?\s+up\b",
        "find its way": r"\bf(?:i|ou)nd(?:s|ing)?\s+(?:its|their|his|her)\s+way\b",
        "wish": r"\bwish(?:es|ed|ing)?\b",
        "moment": r"\bmoments?\b",
    }.items()
}

# Uses that are plain English or a name, by marker: text that matches is taken out before counting.
LEGITIMATE: Final = {
    "nobody": (
        r"\b(?:user|account)\s+`?'?nobody\b",  # the unprivileged account of Linux
        r"\bnobody(?::nogroup|'s\s+account)\b",
    ),
}
_LEGITIMATE: Final = {
    name: tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    for name, patterns in LEGITIMATE.items()
}

# Files that quote the markers in order to rule them out, and material that is data of tests.
QUOTING: Final = (
    "tests/support/plain_english.py",
    "tests/architecture/test_plain_english.py",
    "docs/vocabulary.md",
)
DATA: Final = ("tests/eval/", "tests/replay/")
# A section of a page between these two lines shows examples of wording, good and bad.
EXAMPLES: Final = re.compile(r"<!-- wording examples -->.*?<!-- end of wording examples -->", re.DOTALL)

COMMENTED: Final = {
    ".toml",
    ".service",
    ".socket",
    ".slice",
    ".conf",
    ".catalog",
    ".yaml",
    ".yml",
    ".txt",
    "",
}
WORD: Final = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
MESSAGE: Final = re.compile(r"[A-Za-z]{2,},? [A-Za-z]{1,}")


class Passage(NamedTuple):
    """A stretch of prose and where it begins."""

    path: Path
    line: int
    text: str


class Found(NamedTuple):
    """One occurrence of a marker."""

    path: Path
    line: int
    marker: str
    context: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.marker}: {self.context}"


class Count(NamedTuple):
    """The number of words of prose, and every marker in them."""

    words: int
    found: tuple[Found, ...]

    @property
    def rate(self) -> float:
        """Markers per 1,000 words."""
        return 1000 * len(self.found) / self.words if self.words else 0.0


def _python(path: Path) -> Iterator[Passage]:
    source = path.read_text(encoding="utf-8")
    nodes = nodes_of(path)
    docstrings = set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(first.value)
                yield Passage(path, first.lineno, str(first.value.value))
    if not path.is_relative_to(ROOT / "tests"):  # strings in tests are their data
        for node in nodes:
            match node:
                case ast.Constant(value=str(text)) if node not in docstrings and MESSAGE.search(text):
                    yield Passage(path, node.lineno, text)
                case _:
                    pass
    yield from _joined(
        path,
        (
            (token.start[0], token.string.lstrip("#").strip())
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT and not re.match(r"#\s*(?:noqa|type:|fmt:|!)", token.string)
        ),
    )


def _joined(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Comments on consecutive lines as one passage."""
    start, last, texts = 0, -1, list[str]()
    for line, text in lines:
        if line != last + 1 and texts:
            yield Passage(path, start, "\n".join(texts))
            texts = []
        start = start if texts else line
        texts.append(text)
        last = line
    if texts:
        yield Passage(path, start, "\n".join(texts))


def _markdown(path: Path) -> Iterator[Passage]:
    text = path.read_text(encoding="utf-8")
    for code in (EXAMPLES, re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE), re.compile(r"`[^`\n]*`")):
        text = code.sub(lambda found: "\n" * found.group(0).count("\n"), text)
    yield Passage(path, 1, text)


def _commented(path: Path, mark: str) -> Iterator[Passage]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        _, sign, comment = line.partition(mark)
        if sign and not comment.startswith("!"):
            found.append((number, comment.strip(" #/")))
    yield from _joined(path, found)


def passages(paths: Iterable[Path]) -> Iterator[Passage]:
    """All prose in these files."""
    for path in paths:
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        if (
            name in QUOTING
            or name.startswith(DATA)
            or path.is_relative_to(GENERATED)
            or path.name == "LICENSE"
        ):
            continue
        if path.suffix in {".py", ".pyi"}:
            yield from _python(path)
        elif path.suffix == ".md":
            yield from _markdown(path)
        elif path.suffix == ".proto":
            yield from _commented(path, "//")
        elif path.suffix in COMMENTED:
            yield from _commented(path, "#")


def count(prose: Iterable[Passage]) -> Count:
    """Counts words and markers."""
    words, found = 0, list[Found]()
    for path, line, text in prose:
        words += len(WORD.findall(text))
        for marker, pattern in MARKERS.items():
            rest = text
            for allowed in _LEGITIMATE.get(marker, ()):
                rest = allowed.sub(lambda use: re.sub(r"\S", "-", use.group(0)), rest)
            for match in pattern.finditer(rest):
                end = match.end()
                place = line + text.count("\n", 0, end)
                context = " ".join(text[max(0, match.start() - 30) : end + 30].split())
                found.append(Found(path, place, marker, context))
    return Count(words, tuple(found))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.plain_english")
    parser.add_argument("--list", action="store_true", help="print every occurrence")
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; everything by default")
    chosen = parser.parse_args(arguments)
    roots = [path.resolve() for path in chosen.paths]
    files = [path for path in text_files() if not roots or any(path.is_relative_to(root) for root in roots)]
    counted = count(passages(files))
    say = sys.stdout.write
    if chosen.list:
        for found in sorted(counted.found):
            say(f"{found}\n")
    say(f"{counted.rate:.2f} markers per 1,000 words: {len(counted.found)} in {counted.words} words\n")
    for marker, times in Counter(found.marker for found in counted.found).most_common():
        say(f"{times:6} {marker}\n")
    for path, times in Counter(found.path for found in counted.found).most_common(15):
        say(f"{times:6} {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
