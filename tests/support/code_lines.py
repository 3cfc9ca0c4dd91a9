"""Counts the lines of code of a Python file: no blank lines, comments or docstrings."""

import ast
import io
import tokenize
from pathlib import Path
from typing import Final

from tests.support.repository import tree_of

_NOT_CODE: Final = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(path: Path) -> int:
    """How many lines hold code. A statement over several lines counts as many."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type not in _NOT_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(tree_of(path)))


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant(value=str())) as text, *_])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str())) as text, *_])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())) as text, *_])
                | ast.AsyncFunctionDef(body=[ast.Expr(value=ast.Constant(value=str())) as text, *_])
            ):
                lines |= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
            case _:
                pass
    return lines
