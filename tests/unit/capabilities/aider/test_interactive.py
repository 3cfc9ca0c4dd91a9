"""The tool aider_interactive, with the stand-in at a terminal in the real sandbox."""

from pathlib import Path
from typing import Any

import anyio

from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.tools import ToolResult
from aeond.ports.serving import TerminalKind, TerminalSize
from tests.support.aider import SAID, TASK, TEST, WRONG, Desk
from tests.support.bubblewrap import needs_bubblewrap

pytestmark = needs_bubblewrap
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
