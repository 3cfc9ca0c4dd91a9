"""run_command and run_python."""

from pathlib import Path
from typing import Any

import pytest

from aeond.capabilities.hands.commands import MAX_OUTPUT_BYTES, programs_like, words
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target, TargetKind
from aeond.domain.tools import ToolCall
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.hands import Hands
from tests.support.tools import CONTEXT


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["ls", "-l"], ["ls", "-l"]),
        (["ls -l 'my file'"], ["ls", "-l", "my file"]),
        (["ls"], ["ls"]),
        (["echo 'open"], ["echo 'open"]),
        ([" "], [" "]),
        (["my program", "x"], ["my program", "x"]),
    ],
)
def test_a_command_in_one_word_is_split(given: list[str], meant: list[str]) -> None:
    """A whole command written as one word is split as a shell does; several words stay as they are."""
    assert words(given) == meant


@needs_bubblewrap
async def test_an_exit_code_is_a_result(tmp_path: Path) -> None:
    """A program that fails has a result with its exit code, output and error output in order; the call succeeds."""
    result = await Hands(tmp_path).shell("echo out; echo err >&2; exit 3")
    data: Any = result.data
    assert data == {"exit_code": 3, "note": "", "output": "out\nerr\n"}
    assert result.effects[0].detail.startswith("exit code 3, ")


@needs_bubblewrap
async def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    """The words reach the program as they are."""
    data = await Hands(tmp_path).done("run_command", argv=["echo", "$HOME", "*", ";", "ls"])
    assert data["output"] == "$HOME * ; ls\n"


@needs_bubblewrap
async def test_a_program_that_does_not_exist_has_candidates(tmp_path: Path) -> None:
    """An unknown program fails the call and names programs with a similar name."""
    result = await Hands(tmp_path).call("run_command", argv=["bashh"])
    assert result.reason == "PROGRAM_NOT_FOUND"
    assert "bash" in result.candidates


@needs_bubblewrap
async def test_time_is_bounded(tmp_path: Path) -> None:
    """A command is stopped when its time is up, and its output until then is the result."""
    data = await Hands(tmp_path).done(
        "run_command", argv=["sh", "-c", "echo begun; exec sleep 600"], seconds=1
    )
    assert data == {"exit_code": 143, "note": "stopped after 1 s", "output": "begun\n"}


@needs_bubblewrap
async def test_python_runs_and_may_import_from_the_folder(tmp_path: Path) -> None:
    """Code runs in the folder, its modules can be imported, and its long output keeps beginning and end."""
    (tmp_path / "shop.py").write_text("price = 12\n", encoding="utf-8")
    code = "import shop\nprint(shop.price)\nprint('-' * 100_000)\nprint('end')"
    data = await Hands(tmp_path).done("run_python", code=code)
    assert data["output"].startswith("12\n---")
    assert data["output"].endswith("--\nend\n")
    assert "bytes left out" in data["output"]
    assert len(data["output"]) < MAX_OUTPUT_BYTES + 100
    failed = await Hands(tmp_path).done("run_python", code="raise SystemExit(4)")
    assert failed["exit_code"] == 4


@needs_bubblewrap
async def test_there_is_no_network(tmp_path: Path) -> None:
    """Code in the sandbox cannot make a socket."""
    data = await Hands(tmp_path).done(
        "run_python", code="import socket\nsocket.create_connection(('1.1.1.1', 53))"
    )
    assert data["exit_code"] == 1


async def test_targets_are_the_program_and_the_workspace(tmp_path: Path) -> None:
    """The policy learns the program, and that everything in the workspace may be read and changed."""
    hands = Hands(tmp_path)
    run_command, run_python = hands.tools[:2]
    whole = (
        Target(TargetKind.FILE, f"{tmp_path}/", Access.READ, exists=True),
        Target(TargetKind.FILE, f"{tmp_path}/", Access.WRITE, exists=True),
    )
    ls, python = (
        Target(TargetKind.COMMAND, "ls", Access.USE),
        Target(TargetKind.COMMAND, "python3", Access.USE),
    )
    assert await run_command.targets({"argv": ["ls -l"]}, hands.context) == (ls, *whole)
    assert await run_python.targets({"code": "1"}, hands.context) == (python, *whole)
    assert await run_python.targets({"code": "1"}, CONTEXT) == (python,)


async def test_previews_show_the_command(tmp_path: Path) -> None:
    """A person who approves a call sees the words of the command, or the code."""
    hands = Hands(tmp_path)
    shown = await hands.invoker.preview(ToolCall("run_command", {"argv": ["ls -l"]}), hands.context)
    assert shown == CallPreview(command=("ls", "-l"), target=str(tmp_path))
    shown = await hands.invoker.preview(ToolCall("run_python", {"code": "1 / 0"}), hands.context)
    assert shown.command == ("python3", "-c", "1 / 0")


def test_programs_are_found_by_likeness() -> None:
    """Programs of the system are proposed by the likeness of their names, within a limit."""
    assert programs_like("bash", 1) == ("bash",)
    assert programs_like("q8 no such program 7x", 5) == ()
