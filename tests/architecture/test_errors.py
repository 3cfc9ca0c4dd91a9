"""Errors are caught by name, and everything else in nine known places."""

import ast
from pathlib import Path

from tests.support.repository import ROOT, nodes_of, place, python_files

# Where our own bugs and other people's code are turned into a recorded failure or an error id.
BROAD_CATCHES = {
    "aeond/capabilities/mcp/server.py",
    "aeond/capabilities/tools/invoker.py",
    "aeond/concurrency.py",
    "aeond/daemon/main.py",
    "aeond/kernel/executor.py",
    "aeond/server/error_interceptor.py",
    "aeond/service/recovery/run_boundary.py",
    "clients/aeond_client/serving/client_tool.py",
    "clients/aeond_client/serving/tool_stream.py",
}
BROAD = {"Exception", "BaseException"}


def names_in(node: ast.expr | None) -> set[str]:
    if node is None:
        return {"BaseException"}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def broad_catches(path: Path) -> list[str]:
    """Each `except` or `suppress` that catches what it cannot name."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.ExceptHandler):
            caught = names_in(node.type)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            caught = set().union(*(names_in(argument) for argument in node.args))
        else:
            continue
        if caught & BROAD:
            found.append(place(path, node.lineno))
    return found


def test_only_nine_places_catch_everything() -> None:
    """`except Exception` is in the tool invoker, the connections of MCP servers, the boundaries of steps, runs and
    connections, the interceptor, main, and where clients serve tools."""
    catches = {path: broad_catches(path) for path in python_files("aeond", "clients")}
    assert [
        where
        for path, places in catches.items()
        for where in places
        if str(path.relative_to(ROOT)) not in BROAD_CATCHES
    ] == []


def test_each_of_the_nine_places_catches_once() -> None:
    """The nine places exist, and each has a single broad catch."""
    assert {name: len(broad_catches(ROOT / name)) for name in BROAD_CATCHES} == dict.fromkeys(
        BROAD_CATCHES, 1
    )


def test_no_module_starts_a_process_with_code_between_fork_and_exec() -> None:
    """No call passes preexec_fn, which crashes children of a process with gRPC threads."""
    assert [
        place(path, node.lineno)
        for path in python_files()
        for node in nodes_of(path)
        if isinstance(node, ast.keyword) and node.arg == "preexec_fn"
    ] == []
