"""The tool aider_interactive, with the stand-in at a terminal in the real sandbox."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.tools import ToolResult
from aeond.ports.serving import TerminalKind, TerminalSize
from tests.support.aider import SAID, TASK, TEST, WRONG, Desk
from tests.support.bubblewrap import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.slow]
KIND = TerminalKind("vt100", TerminalSize(12, 34))


async def session(desk: Desk, typed: list[bytes], **arguments: Any) -> tuple[ToolResult, bytes]:
    """Types one entry after each prompt: the result, and the screen."""
    loan = desk.terminals.attach(desk.hands.context.uid, desk.hands.context.run_id, KIND)
    results: list[ToolResult] = []
    screen = b""
    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            results.append(await desk.call("aider_interactive", **arguments))

        tasks.start_soon(call)
        prompts = 0
        while (shown := await loan.next()) is not None:
            screen += shown
            while (ready := screen.count(b"ready>")) > prompts:
                prompts += 1
                if prompts > 1 or "task" not in arguments:  # the first is the task's
                    loan.type(typed.pop(0))
            assert ready >= prompts
    return results[0], screen


async def test_the_work_of_a_session_is_a_proposal(tmp_path: Path) -> None:
    """The result tells what was asked, the test's outcome and the diff; the tree is as before until it is applied."""
    desk = Desk(tmp_path, [{"text": SAID}])
    result, screen = await session(desk, [b"thanks\r", b"/exit\r"], task=TASK, test=[*TEST])
    assert b"vt100 has 12 34 at /dev/pts/" in screen
    assert isinstance(result.data, str)
    assert result.data.startswith(f"Asked of Aider:\n- {TASK}\n- thanks\n\nProposed changes of calc.py.")
    assert "The test succeeds." in result.data
    assert result.data.endswith("-    return a - b\n+    return a + b")
    (effect,) = result.effects
    assert (effect.kind, effect.detail) == ("changes.proposed", TASK.rstrip("."))
    assert (desk.project / "calc.py").read_text(encoding="utf-8") == WRONG
    assert desk.copies == []
    applied = await desk.done("apply_changes", "call2", proposal=effect.target)
    assert applied["files"] == ["calc.py"]


@pytest.mark.parametrize(
    ("left", "note"),
    [
        ("ln -s /etc here", "they are links or no regular files: 'here'"),
        ("rm -r pkg && echo x > pkg", "a file or link is where a folder was: 'pkg', 'pkg/a.py'"),
        ("truncate -s 2M here", "they are larger than 1 MiB: 'here'"),
        ("git init --quiet here", ""),
        ("touch .git/index.lock", ""),
    ],
)
async def test_nothing_that_is_left_in_the_folder_costs_the_session(
    left: str, note: str, tmp_path: Path
) -> None:
    """Links, large files, replaced folders, other repositories and a lock of git are left out, and the rest is proposed."""
    desk = Desk(tmp_path, [{"text": SAID}])
    (desk.project / "pkg").mkdir()
    (desk.project / "pkg/a.py").write_text("a = 1\n", encoding="utf-8")
    result, _ = await session(desk, [f"/run {left}\r".encode(), b"/exit\r"], task=TASK)
    assert isinstance(result.data, str), result.error
    assert "Proposed changes of calc.py." in result.data
    assert (f"Note: left out, because {note}\n" if note else "") in result.data
    assert ("Note:" in result.data) is bool(note)


async def test_a_file_that_becomes_a_folder_can_be_applied_and_undone(tmp_path: Path) -> None:
    """The file makes way for the folder when the proposal is applied, and is back after undo."""
    desk = Desk(tmp_path, [{"text": SAID}])
    (desk.project / "tool").write_text("old\n", encoding="utf-8")
    typed = [b"/run rm tool && mkdir tool && echo new > tool/main.py\r", b"/exit\r"]
    result, _ = await session(desk, typed, task=TASK)
    (effect,) = result.effects
    applied = await desk.done("apply_changes", "call2", proposal=effect.target)
    assert applied["files"] == ["calc.py", "tool", "tool/main.py"]
    assert desk.hands.text("tool/main.py") == "new\n"
    await desk.hands.undo()
    assert desk.hands.text("tool") == "old\n"


async def test_a_session_whose_changes_are_all_left_out_says_so(tmp_path: Path) -> None:
    """Without a proposal the summary names what was left out."""
    desk = Desk(tmp_path, [{"text": "Nothing to do."}])
    result, _ = await session(desk, [b"/run ln -s /etc here\r", b"/exit\r"], task=TASK)
    assert isinstance(result.data, str), result.error
    assert result.data.endswith(
        "None of the changes can be proposed.\n\n"
        "Note: left out, because they are links or no regular files: 'here'"
    )


async def test_the_budget_of_the_step_holds_at_the_terminal(tmp_path: Path) -> None:
    """A request beyond the grant is refused with BUDGET_SPENT."""
    desk = Desk(tmp_path, [{"text": SAID}])
    desk.grant = Grant(Amounts(llm_calls=0, tokens=10_000))
    result, screen = await session(desk, [], task=TASK)
    assert b"BUDGET_SPENT" in screen
    assert (
        result.data
        == f"Asked of Aider:\n- {TASK}\n\nNothing was changed.\n\nNote: the model refused: BUDGET_SPENT"
    )


async def test_without_a_terminal_the_call_fails(tmp_path: Path) -> None:
    """A call without a client that lends its terminal fails in time, and so does one outside of a run."""
    desk = Desk(tmp_path, [])
    desk.terminals._wait_seconds = 0.01
    assert (await desk.call("aider_interactive")).reason == "TERMINAL_MISSING"
