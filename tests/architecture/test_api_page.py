import ast

from aeond.server.statuses import _CODES
from tests.support.repository import ROOT, markdown_rows, nodes_of, python_files

PAGE = ROOT / "docs" / "api.md"

# Raised before there is a socket to tell a client anything through.
AT_START = {
    "FOLDER_NOT_OURS",
    "NOT_A_LISTENER",
    "SOCKET_FOLDER_MISSING",
    "SOCKET_FOLDER_REFUSED",
    "SOCKET_IN_USE",
    "SOCKET_PATH_TAKEN",
    "SOCKET_PATH_TOO_LONG",
}


def texts(*folders: str) -> set[str]:
    """Every text in the code below these folders."""
    return {
        node.value
        for path in python_files(*folders)
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def reasons_given(*folders: str) -> set[str]:
    """Every reason that an error is raised with, or has by its class."""
    given: set[str] = set()
    for path in python_files(*folders):
        for node in nodes_of(path):
            match node:
                case ast.keyword(arg="reason", value=ast.Constant(value=str(reason))):
                    given.add(reason)
                case ast.Assign(targets=[ast.Name(id="reason")], value=ast.Constant(value=str(reason))):
                    given.add(reason)
                case ast.Call(func=ast.Name(id="_refuse"), args=[*_, ast.Constant(value=str(reason))]):
                    given.add(reason)
                case ast.Call(func=ast.Name(id="_failed"), args=[_, ast.Constant(value=str(reason)), *_]):
                    given.add(reason)
                case _:
                    pass
    return given


def documented(*headings: str) -> set[str]:
    return {row[0].strip("`") for heading in headings for row in markdown_rows(PAGE, heading)}


def test_every_reason_of_server_and_service_is_documented() -> None:
    """A reason that a client can meet stands in one of the tables of reasons."""
    given = reasons_given("aeond/server", "aeond/service", "aeond/errors.py") - AT_START
    assert sorted(given - documented("Reasons", "Reasons in data")) == []


def test_every_reason_of_a_step_is_documented() -> None:
    """A reason that the kernel or the guard of the tools gives a step or a result stands in the table of those."""
    of_steps = reasons_given("aeond/kernel/executor.py", "aeond/state_machine/steps.py")
    given = of_steps | reasons_given("aeond/capabilities/tools/invoker.py")
    assert {"DEPENDENCY_FAILED", "TOOL_NOT_ALLOWED", "TOOL_RAISED", "UNRESOLVED_REFERENCE"} <= given
    assert sorted(given - documented("Reasons in data")) == []


def test_every_documented_reason_is_in_the_code() -> None:
    """No reason in the tables is one that nothing raises."""
    assert sorted(documented("Reasons", "Reasons in data") - texts("aeond")) == []


def test_every_code_is_documented() -> None:
    """The table of codes holds each one that an error becomes."""
    shown = {row[0].strip("`") for row in markdown_rows(PAGE, "Errors")}
    page = PAGE.read_text(encoding="utf-8")
    assert shown
    for code in (*(code.name for _, code in _CODES), "INTERNAL"):
        assert f"| `{code}` | " in page, code
