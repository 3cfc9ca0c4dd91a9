import ast

from aeond.server.statuses import _CODES
from tests.support.repository import ROOT, markdown_rows, python_files, tree_of

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
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def reasons_given(*folders: str) -> set[str]:
    """Every reason that an error is raised with, or has by its class."""
    given: set[str] = set()
    for path in python_files(*folders):
        for node in ast.walk(tree_of(path)):
            match node:
                case ast.keyword(arg="reason", value=ast.Constant(value=str(reason))):
                    given.add(reason)
                case ast.Assign(targets=[ast.Name(id="reason")], value=ast.Constant(value=str(reason))):
                    given.add(reason)
                case ast.Call(func=ast.Name(id="_refuse"), args=[*_, ast.Constant(value=str(reason))]):
                    given.add(reason)
                case _:
                    pass
    return given


def documented() -> dict[str, str]:
    return {row[0].strip("`"): row[1] for row in markdown_rows(PAGE, "Reasons")}


def test_every_reason_of_server_and_service_is_documented() -> None:
    """A reason that a client can meet stands in the table of reasons."""
    given = reasons_given("aeond/server", "aeond/service", "aeond/errors.py") - AT_START
    assert sorted(given - set(documented())) == []


def test_every_documented_reason_is_in_the_code() -> None:
    """No reason in the table is one that nothing raises."""
    assert sorted(set(documented()) - texts("aeond")) == []


def test_every_code_is_documented() -> None:
    """The table of codes holds each one that an error becomes."""
    shown = {row[0].strip("`") for row in markdown_rows(PAGE, "Errors")}
    page = PAGE.read_text(encoding="utf-8")
    assert shown
    for code in (*(code.name for _, code in _CODES), "INTERNAL"):
        assert f"| `{code}` | " in page, code
