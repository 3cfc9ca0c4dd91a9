"""aeonctl and approvals: the real service and the real API, and the program on a terminal and without one."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aeond.domain.policy import Access, Target, TargetKind, Verdict
from aeond.domain.runs.run import RunState
from aeond.domain.tools import Effect
from aeond.service.approvals.requests import ApprovalRules
from tests.support.aeonctl import Printed, command, environment, finished
from tests.support.asking_policy import AskingPolicy, NamedFacts
from tests.support.doubles import ScriptedTool
from tests.support.screens import terminal
from tests.support.served_world import served
from tests.support.service_world import World

FOLDER = Target(TargetKind.FILE, "/home/u/notes/a.txt", Access.WRITE)


class Desk:
    """A daemon whose tool `work` needs approval, and aeonctl before it."""

    def __init__(self, folder: Path, world: World, socket: Path) -> None:
        self.folder, self.world = folder, world
        self.settings = environment(AEOND_SOCKET=str(socket), TERM="xterm-256color")

    def ask(self, *words: str) -> list[str]:
        """The command that runs a plan with one call."""
        steps = [{"step_id": "s1", "description": "do it", "tool": "work", "arguments": {"on": "a"}}]
        plan = self.folder / "plan.json"
        plan.write_text(json.dumps({"goal": "work", "steps": steps}))
        return command("ask", "--plan", str(plan), "--workspace", str(self.folder), *words)

    async def aeonctl(self, *words: str) -> Printed:
        return await finished(command(*words), self.settings)

    @property
    def done(self) -> int:
        """How often the call has happened."""
        return len(self.world.tools["work"].calls)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    world = World(
        tmp_path / "own",
        tools={"work": ScriptedTool("work", effect=Effect.EXEC_HOST)},
        policy=AskingPolicy({"work": Verdict.ASK}),
        facts=NamedFacts({"a": (FOLDER,)}),
        rules=ApprovalRules(expire_seconds=0.0),  # aeonctl looks at another clock than this world
    )
    async with served(world, tmp_path) as socket:
        yield Desk(tmp_path, world, socket)


@pytest.mark.parametrize(
    ("typed", "code", "done"), [("yes", 0, 1), ("folder", 0, 1), ("", 1, 0), ("no", 1, 0)]
)
async def test_ask_asks_before_anything_happens(desk: Desk, typed: str, code: int, done: int) -> None:
    """At a terminal `ask` shows the call and its preview; a word allows it, and a plain Enter denies."""
    async with terminal(desk.ask(), environment=desk.settings, columns=80, lines=24) as shown:
        await shown.read_until("Allow? [yes, run, folder / NO]")
        assert desk.done == 0
        assert "     | +work in s1" in shown.screen.text
        assert "  folder: /home/u/notes" in shown.screen.text
        shown.press(f"{typed}\n")
        assert await shown.read_to_end() == code
    assert desk.done == done


async def test_another_word_is_no_answer(desk: Desk) -> None:
    """A word that is not offered is asked about again, and allows nothing."""
    async with terminal(desk.ask(), environment=desk.settings, columns=80, lines=24) as shown:
        await shown.read_until("Allow?")
        shown.press("host\n")
        shown.press("sure\n")
        shown.press("n\n")
        assert await shown.read_to_end() == 1
    assert desk.done == 0


async def test_a_line_typed_before_the_question_is_ignored(desk: Desk) -> None:
    """A line that was typed before the call was shown does not allow it."""
    async with terminal(desk.ask(), environment=desk.settings, columns=80, lines=24) as shown:
        shown.press("yes\n")
        await shown.read_until("Allow?")
        shown.press("\n")
        assert await shown.read_to_end() == 1
    assert desk.done == 0


async def test_another_client_decides_while_one_asks(desk: Desk) -> None:
    """A question that another client decides closes at the first terminal, and the run goes on there."""
    async with terminal(desk.ask(), environment=desk.settings, columns=80, lines=24) as shown:
        await shown.read_until("Allow?")
        allowed = await desk.aeonctl("approvals", "allow", "last")
        assert (allowed.code, allowed.out.startswith("Allowed.")) == (0, True)
        await shown.read_until("(already decided)")
        assert await shown.read_to_end() == 0
    assert desk.done == 1


async def test_without_a_terminal_the_approval_is_left_open(desk: Desk) -> None:
    """Without a terminal the run waits with exit code 6 and says how to decide; list, show and deny do."""
    left = await finished(desk.ask(), desk.settings)
    assert (left.code, desk.done) == (6, 0)
    assert "aeonctl approvals allow" in left.err
    (line,) = (await desk.aeonctl("approvals", "list", "--json")).json_lines
    assert (line["approval_id"], line["calls"][0]["tool"], line["scopes"]) == (
        "s1.1",
        "work",
        ["once", "run", "folder"],
    )
    assert "awaiting input" in (await desk.aeonctl("runs")).out
    assert "s1.1" in (await desk.aeonctl("approvals", "list")).out
    assert "+work in s1" in (await desk.aeonctl("approvals", "show", "last")).out
    (shown,) = (await desk.aeonctl("approvals", "show", "last", "s1.1", "--json")).json_lines
    wrong = await desk.aeonctl("approvals", "allow", "last", "--digest", "0" * 64)
    assert (wrong.code, "digest" in wrong.err) == (2, True)
    denied = await desk.aeonctl("approvals", "deny", "last", "s1.1", "--digest", shown["digest"])
    assert (denied.code, denied.out.startswith("Denied.")) == (0, True)
    late = await desk.aeonctl("approvals", "allow", line["run_id"], "s1.1")
    assert (late.code, desk.done) == (1, 0)
    assert "Nothing waits" in (await desk.aeonctl("approvals", "list")).err
    assert (await desk.aeonctl("watch", line["run_id"])).code == 1


async def test_an_unattended_run_is_suspended_and_can_be_continued(desk: Desk) -> None:
    """With --unattended no answer is awaited: the run is suspended, and a later decision lets it go on."""
    run_id = (await finished(desk.ask("--unattended", "--detach"), desk.settings)).out.strip()
    run = await desk.world.reached(run_id, RunState.SUSPENDED)
    assert (str(run.suspend_reason), len(run.approvals)) == ("approval", 1)
    watched = await desk.aeonctl("watch", run_id)
    assert (watched.code, "aeonctl approvals allow" in watched.err) == (6, True)
    assert (await desk.aeonctl("approvals", "allow", "last", "--scope", "run")).code == 0
    assert (await desk.world.ended(run_id)).state is RunState.SUCCEEDED
    assert desk.done == 1
