"""The files of the repository, for the architecture tests."""

import ast
import gc
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "aeond" / "api"
GENERATED_MARK = "# Generated from protos/"
BINARIES = {".png", ".ico", ".gz", ".binpb", ".db"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file that is, or would be, committed; the same during a session of tests."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listing.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


def text_files() -> list[Path]:
    """Every tracked file that a person can read."""
    return [path for path in tracked_files() if path.suffix not in BINARIES]


def python_files(*folders: str) -> list[Path]:
    """Every hand-written Python file, or those below the named folders."""
    return [path for path in source_files(*folders) if not is_generated(path)]


def source_files(*folders: str) -> list[Path]:
    """Like `python_files`, with the generated files of the client. Those of aeond/api are left out: protoc decides
    about their layout.
    """
    roots = [ROOT / folder for folder in folders] or [ROOT]
    return [
        path
        for path in tracked_files()
        if path.suffix == ".py"
        and any(path.is_relative_to(root) for root in roots)
        and not path.is_relative_to(GENERATED)
    ]


def is_generated(path: Path) -> bool:
    """Whether `make proto` writes the file."""
    if path.is_relative_to(GENERATED):
        return True
    with path.open(encoding="utf-8") as source:
        return source.readline().startswith(GENERATED_MARK)


def tree_of(path: Path) -> ast.Module:
    """The parsed file; not to be changed, because callers share it."""
    return _parsed(path.read_text(encoding="utf-8"), str(path))


@cache
def _parsed(text: str, filename: str) -> ast.Module:
    return ast.parse(text, filename=filename)


def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the parsed file; not to be changed either."""
    return _walked(tree_of(path))


@cache
def _walked(tree: ast.Module) -> tuple[ast.AST, ...]:
    nodes = tuple(ast.walk(tree))
    gc.freeze()  # millions of nodes stay until the process ends: each collection of garbage would look through them
    return nodes


def every_test() -> Iterator[tuple[str, Function]]:
    """Every test as (where, definition)."""
    for path in python_files("tests"):
        if not path.name.startswith("test_"):
            continue
        for node in nodes_of(path):
            if isinstance(node, Function) and node.name.startswith("test_"):
                yield place(path, node.lineno), node


def place(path: Path, line: int) -> str:
    """Where something stands, in the form that terminals and editors link."""
    return f"{path.relative_to(ROOT)}:{line}"


def occurrences(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """Every line that matches, with its place."""
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{place(path, number)}: {line.strip()[:120]}")
    return found


def markdown_rows(path: Path, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, header and rule left out."""
    section = path.read_text(encoding="utf-8").split(f"\n## {heading}\n", maxsplit=1)[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
