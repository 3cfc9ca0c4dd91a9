"""The packages of the project and who imports whom, as Mermaid flowcharts for docs/architecture.md.

An edge that follows from others is left out where the packages form no cycle.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.repository import GENERATED, ROOT, nodes_of, source_files

Edges = dict[str, set[str]]

ROOTS: Final = ("aeond", "aeond_client", "aeon_cli", "aeon_popup")
API: Final = "aeond.api"


def picture_of_the_whole() -> str:
    """The packages below `aeond` and the client packages."""
    tops = {"aeond_client", "aeon_cli", "aeon_popup", API}
    nodes = tops | {name for name in _packages() if name.count(".") == 1 and name.startswith("aeond.")}
    return _flowchart(nodes, lambda name: name.removeprefix("aeond.").replace("_", " "))


def pictures_of_packages() -> str:
    """A flowchart for each package that has packages of its own, under a heading with its name."""
    packages = _packages()
    parts = []
    for parent in sorted(packages):
        nodes = {name for name in packages if name.rpartition(".")[0] == parent}
        if parent != "aeond" and len(nodes) > 1:
            before = f"{parent}."
            parts.append(f"#### {parent}\n\n{_flowchart(nodes, lambda name, b=before: name.removeprefix(b))}")
    return "\n\n".join(parts)


def _packages() -> set[str]:
    return {
        _module(path).removesuffix(".__init__")
        for path in source_files("aeond", "clients")
        if path.name == "__init__.py"
    }


def _flowchart(nodes: set[str], label: object) -> str:
    assert callable(label)
    edges = _without_implied(_edges_between(nodes))
    names = {name: label(name) for name in nodes}
    lines = ["```mermaid", "flowchart TD"]
    lines += [f"    {name.replace('.', '_')}[{names[name]}]" for name in sorted(nodes)]
    lines += [
        f"    {importer.replace('.', '_')} --> {imported.replace('.', '_')}"
        for importer in sorted(edges)
        for imported in sorted(edges[importer])
    ]
    return "\n".join([*lines, "```"])


def _edges_between(nodes: set[str]) -> Edges:
    """Which of these packages import which others, in any of their modules."""
    edges: Edges = defaultdict(set)
    for path in source_files("aeond", "clients"):
        importer = _node_of(_module(path), nodes)
        for module in _imported(path):
            imported = _node_of(module, nodes)
            if importer and imported and importer != imported:
                edges[importer].add(imported)
    return dict(edges)


@cache
def _imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return frozenset(names)


def _node_of(module: str, nodes: Iterable[str]) -> str:
    return max((n for n in nodes if module == n or module.startswith(f"{n}.")), key=len, default="")


def _module(path: Path) -> str:
    assert not path.is_relative_to(GENERATED)
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "clients" else parts)


def _without_implied(edges: Edges) -> Edges:
    """The edges that do not follow from others; all of them where there is a cycle."""
    if any(node in _reachable(node, edges) for node in edges):
        return edges
    return {
        node: {
            target
            for target in targets
            if not any(target in _reachable(other, edges) for other in targets - {target})
        }
        for node, targets in edges.items()
    }


def _reachable(start: str, edges: Edges) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = edges.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
