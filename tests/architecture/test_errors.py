"""Errors are caught by name, and everything else in six known places."""

import ast
from pathlib import Path

from tests.support.repository import ROOT, nodes_of, place, python_files

# Where our own bugs and other people's code are turned into a recorded failure or an error id.
BROAD_CATCHES = {
    "aeond/capabilities/tools/invoker.py",
    "aeond/concurrency.py",
    "aeond/daemon/main.py",
    "aeond/kernel/executor.py",
    "aeond/server/error_interceptor.py",
    "clients/aeond_client/serving/tool_stream.py",
}
BROAD = {"Exception", "BaseException"}

# Where everything is caught that the tasks of one part raise, by the group that its own task group makes of it.
GROUP_CATCHES = {
    "aeond/capabilities/mcp/server.py",
    "aeond/service/recovery/run_boundary.py",
    "clients/aeon_popup/background/worker.py",
}
GROUPS = {"ExceptionGroup", "BaseExceptionGroup"}


def names_in(node: ast.expr | None) -> set[str]:
    if node is None:
        return {"BaseException"}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def catches_of(path: Path, wanted: set[str]) -> list[str]:
    """Each `except` or `suppress` of one of these classes."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.ExceptHandler):
            caught = names_in(node.type)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            caught = set().union(*(names_in(argument) for argument in node.args))
        else:
            continue
        if caught & wanted:
            found.append(place(path, node.lineno))
    return found


def catching(wanted: set[str]) -> dict[str, int]:
    """How often each source file catches one of these classes, where it does."""
    counts = {
        str(path.relative_to(ROOT)): len(catches_of(path, wanted))
        for path in python_files("aeond", "clients")
    }
    return {name: count for name, count in counts.items() if count}


def test_six_places_catch_everything() -> None:
    """`except Exception` is once in the tool invoker, the boundaries of steps and connections, the interceptor, main, and
    where clients carry out calls of their tools."""
    assert catching(BROAD) == dict.fromkeys(BROAD_CATCHES, 1)


def test_three_places_catch_groups_of_errors() -> None:
    """The errors of a whole task group are caught once for each MCP server, for each run, and in the popup's worker."""
    assert catching(GROUPS) == dict.fromkeys(GROUP_CATCHES, 1)


def test_no_module_starts_a_process_with_code_between_fork_and_exec() -> None:
    """No call passes preexec_fn, which crashes children of a process with gRPC threads."""
    assert [
        place(path, node.lineno)
        for path in python_files()
        for node in nodes_of(path)
        if isinstance(node, ast.keyword) and node.arg == "preexec_fn"
    ] == []
