"""Finds rules in source that depend on the words of a language or on the names of tools, by their form."""

import ast
import re
from collections.abc import Collection, Iterator

from aeond.frozen import frozen

JSON_SCHEMA = frozenset(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "pattern",
        "format",
        "default",
        "description",
        "minimum",
        "maximum",
        "not",
        "contains",
        "string",
        "number",
        "integer",
        "boolean",
        "null",
        "object",
        "array",
        "definitions",
        "true",
        "false",
        "anyOf",
        "oneOf",
        "maxLength",
    ]
)
# A word is several letters, or a single one of a script in which one is enough; reason codes are no words.
WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_a-zA-Z]")
WORDS = re.compile(r"[^\W\d_]+(?:[ '\u2019-][^\W\d_]+)*")
# Parts of a pattern that are no literal text: escapes, character classes, the heads of groups.
SYNTAX = re.compile(
    r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:P?<\w+>|[a-z]+[:)])"
)
TEXT_METHODS = frozenset(
    [
        "startswith",
        "endswith",
        "removeprefix",
        "removesuffix",
        "find",
        "rfind",
        "index",
        "rindex",
        "count",
        "partition",
        "rpartition",
        "replace",
    ]
)


@frozen
class Finding:
    """A word, and the line with the rule that depends on it."""

    line: int
    word: str


def language_rules(tree: ast.Module, tools: Collection[str]) -> list[Finding]:
    """Every rule of a module that looks for words, and every name of these tools in it. Not found are the texts of
    documentation and messages, JSON schemas (assignments of the type JsonObject), keywords of JSON Schema, and the
    values that a module itself declares under `const` or `enum`."""
    documentation = set(_docstrings(tree))
    data = {part for node in ast.walk(tree) if _is_schema(node) for part in ast.walk(node)}
    declared = set(_declared(tree))
    constants = _constants(tree)
    found = set(_tool_names(tree, tools, documentation))
    for node in ast.walk(tree):
        if node in data:
            continue
        for text in _compared(node, constants):
            if (
                WORDS.fullmatch(text)
                and WORD.search(text)
                and not text.isupper()
                and text not in JSON_SCHEMA | declared
            ):
                found.add(Finding(_line(node), text))
        for word in WORD.findall(SYNTAX.sub(" ", _pattern(node, constants))):
            found.add(Finding(_line(node), word))
    return sorted(found, key=lambda one: (one.line, one.word))


def _tool_names(
    tree: ast.Module, tools: Collection[str], documentation: Collection[ast.AST]
) -> Iterator[Finding]:
    """Names of tools in texts: alone, or within a longer text if the name is no plain word."""
    for node in ast.walk(tree):
        if node in documentation:
            continue
        for text in _texts(node):
            for name in tools:
                if text == name or ("_" in name and re.search(rf"\b{name}\b", text)):
                    yield Finding(_line(node), name)


def _compared(node: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    """The texts that other text is compared with: in collections, comparisons, methods of text and patterns."""
    if isinstance(node, ast.Set | ast.List | ast.Tuple) and len(node.elts) > 1:
        for element in node.elts:
            yield from _texts(element)
    elif isinstance(node, ast.Compare):
        for side in (node.left, *node.comparators):
            yield from _texts(side)
    elif isinstance(node, ast.MatchValue):
        yield from _texts(node.value)
    elif (isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)) or (
        isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Dict)
    ):
        for key in node.value.keys:
            yield from _texts(key)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in TEXT_METHODS:
            for argument in node.args:
                for text in _texts(
                    constants.get(argument.id) if isinstance(argument, ast.Name) else argument
                ):
                    yield from WORD.findall(text)[:1]
        elif node.func.attr == "split" and isinstance(node.func.value, ast.Constant):
            yield from str(node.func.value.value).split()


def _pattern(node: ast.AST, constants: dict[str, ast.expr]) -> str:
    """The text of the regular expression that a call uses, if it is one of `re`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
        return ""
    module = node.func.value
    return _text_of(node.args[0], constants) if isinstance(module, ast.Name) and module.id == "re" else ""


def _text_of(node: ast.AST | None, constants: dict[str, ast.expr]) -> str:
    """The text of an expression, with that of the constants in it; a space for what only a run can say."""
    if isinstance(node, ast.Name):
        return _text_of(constants.get(node.id), constants)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text_of(node.value, constants)
    if isinstance(node, ast.BinOp):
        return _text_of(node.left, constants) + _text_of(node.right, constants)
    return next(_texts(node), " ")


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of the names that the module assigns."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found[node.target.id] = node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def _declared(tree: ast.Module) -> Iterator[str]:
    """The values that a JSON schema of the module names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if set(_texts(key)) & {"const", "enum"}:
                    yield from (text for part in ast.walk(value) for text in _texts(part))


def _is_schema(node: ast.AST) -> bool:
    """Whether this is an assignment, a dictionary or a list of a JSON schema."""
    if isinstance(node, ast.AnnAssign):
        return "JsonObject" in ast.unparse(node.annotation)
    return isinstance(node, ast.Dict) and {"type", "properties"} <= {
        text for key in node.keys for text in _texts(key)
    }


def _docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _texts(node: ast.AST | None) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
