"""Finds the values that functions of a module can return, and those that they did: each `return` and each side of a conditional."""

import ast
from collections.abc import Callable, Collection
from pathlib import Path
from types import ModuleType
from typing import Any, cast

_MARK = "_reached"


class ValueBranches(ast.NodeTransformer):
    """A copy of these functions of a module that notes which of their branches have given a value. `missing` has the others: a line
    number and the code of each.
    """

    def __init__(self, module: ModuleType, names: Collection[str]) -> None:
        assert module.__file__
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        self.missing: dict[int, str] = {}
        self._count = 0
        wanted = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
        assert len(wanted) == len(names)
        copied = ast.Module([self.visit(node) for node in wanted], type_ignores=[])
        self._names = {**vars(module), _MARK: self._reached}
        exec(compile(ast.fix_missing_locations(copied), module.__file__, "exec"), self._names)

    def function(self, name: str) -> Callable[..., Any]:
        return cast("Callable[..., Any]", self._names[name])

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        # Both sides of a conditional are branches already.
        if node.value is not None and not isinstance(node.value, ast.IfExp):
            node.value = self._marked(node.value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        code = ast.unparse(node)
        self.generic_visit(node)
        node.body, node.orelse = self._marked(node.body, code), self._marked(node.orelse, code)
        return node

    def _marked(self, value: ast.expr, code: str = "") -> ast.expr:
        self._count += 1
        self.missing[self._count] = (
            f"line {value.lineno}: {ast.unparse(value)}{f' in {code}' if code else ''}"
        )
        number = ast.copy_location(ast.Constant(self._count), value)
        called = ast.Call(ast.Name(_MARK, ast.Load()), [number, value], [])
        return ast.copy_location(called, value)

    def _reached(self, number: int, value: object) -> object:
        self.missing.pop(number, None)
        return value
