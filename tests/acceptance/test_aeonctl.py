"""aeonctl against the real daemon, over its crashes."""

import anyio
import anyio.to_thread

from aeond_client import AsyncClient, RunOptions
from aeond_client.events import RunEnded
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.aeonctl import Printed, command, environment
from tests.support.ledgers import chain, deed
from tests.support.screens import terminal
from tests.support.stages import Stage

BONUS = Plan(
    "the bonus",
    (
        PlanStep("s1", "", "calculator", {"expression": "17.5 / 100 * 2400"}),
        PlanStep("s2", "", "remember", {"key": "bonus", "value": "$s1.result"}, depends_on=("s1",)),
    ),
)


async def test_asked_listed_shown_and_remembered(stage: Stage) -> None:
    """A plan is run, its answer printed alone, its steps shown, and what it remembers is there."""
    printed = await stage.aeonctl("ask", "-q", "--plan", stage.plan_file(BONUS))
    assert (printed.code, "420" in printed.out) == (0, True)
    assert (await stage.aeonctl("memory", "get", "bonus")).out == "420\n"
    printed = await stage.aeonctl("show", "last")
    assert printed.code == 0
    assert "calculator 17.5 / 100 * 2400" in printed.out
    assert '{"result": 420}' in printed.out
    printed = await stage.aeonctl("runs", "--json")
    assert [line["state"] for line in printed.json_lines] == ["succeeded"]


async def test_files_are_read_where_the_user_is(stage: Stage) -> None:
    """A tool called by hand works in the current folder, and not outside of it."""
    (stage.workspace / "note.txt").write_text("hello\n", encoding="utf-8")
    printed = await stage.aeonctl("call", "read_file", "path=note.txt")
    assert (printed.code, "hello" in printed.out) == (0, True)
    printed = await stage.aeonctl("call", "read_file", "path=../daemon.log")
    assert (printed.code, printed.out) == (1, "")
    assert "read_file failed" in printed.err


async def test_the_policy_is_explained_tested_and_replayed(stage: Stage) -> None:
    """The rules and the decisions of a run are shown, a call is decided without being carried out, and another policy
    is tried on a past run."""
    printed = await stage.aeonctl("ask", "-q", "--plan", stage.plan_file(BONUS))
    assert printed.code == 0
    printed = await stage.aeonctl("policy", "explain")
    assert (printed.code, "builtin.protected-name" in printed.out) == (0, True)
    printed = await stage.aeonctl("policy", "explain", "last")
    assert [line.split()[:3] for line in printed.out.splitlines()] == [
        ["s1", "calculator", "allow"],
        ["s2", "remember", "allow"],
    ]
    printed = await stage.aeonctl("policy", "test", "write_file", "path=.bashrc", "content=x", "--json")
    assert printed.code == 1
    assert printed.json_lines[0]["decision"]["rule"] == "builtin.protected-name"
    assert not (stage.workspace / ".bashrc").exists()
    assert (await stage.aeonctl("policy", "test", "now")).code == 0
    policy = stage.workspace / "new.toml"
    policy.write_text('profile = "observe"\n', encoding="utf-8")
    printed = await stage.aeonctl("policy", "replay", "--policy", str(policy), "last")
    assert printed.code == 1
    assert [line.split()[1:5] for line in printed.out.splitlines()] == [["s2", "remember", "allow", "deny"]]
    printed = await stage.aeonctl("policy", "replay", "last")
    assert (printed.code, printed.out, printed.err) == (0, "", "Every call is decided as before.\n")
    entry = (await stage.aeonctl("memory", "list", "--json")).json_lines[0]
    assert (entry["key"], bool(entry["run_id"]), entry["taint"]) == ("bonus", True, [])


async def test_a_run_is_undone(stage: Stage) -> None:
    """The changes of a run are shown with its answer and can be undone; a file changed since then is left alone."""
    (stage.workspace / "list.txt").write_text("milk\neggs", encoding="utf-8")
    steps = (
        PlanStep("s1", "", "append_file", {"path": "List", "text": "tea"}),
        PlanStep("s2", "", "move_file", {"path": "list.txt", "to": "lists/"}, depends_on=("s1",)),
        PlanStep("s3", "", "write_file", {"path": "new.txt", "content": "new"}, depends_on=("s2",)),
    )
    printed = await stage.aeonctl("ask", "-q", "--plan", stage.plan_file(Plan("a tidy list", steps)))
    assert printed.code == 0
    assert (stage.workspace / "lists" / "list.txt").read_text(encoding="utf-8") == "milk\neggs\ntea\n"
    (stage.workspace / "new.txt").write_text("by hand", encoding="utf-8")
    printed = await stage.aeonctl("undo", "last")
    assert (printed.code, printed.out) == (1, "list.txt: moved back\nlist.txt: restored\n")
    assert "new.txt: left alone" in printed.err
    assert not (stage.workspace / "lists").exists()
    assert (stage.workspace / "list.txt").read_text(encoding="utf-8") == "milk\neggs"
    assert (stage.workspace / "new.txt").read_text(encoding="utf-8") == "by hand"


async def test_the_live_view_survives_a_crash_of_the_daemon(stage: Stage) -> None:
    """A person who watches sees the daemon go and come back, every step once, and the answer."""
    gate = stage.gate()
    path = stage.plan_file(chain(deed("s1", "run"), deed("s2", "pure", gate=gate), deed("s3", "run")))
    ask = command("ask", "--workspace", str(stage.workspace), "--plan", path)
    variables = environment(AEOND_SOCKET=stage.socket, TERM="xterm-256color")
    async with terminal(ask, environment=variables) as shown:
        await shown.read_until("· run")
        await anyio.to_thread.run_sync(gate.held)
        await anyio.to_thread.run_sync(stage.daemon.kill)
        await shown.read_until("The daemon went away")
        await anyio.to_thread.run_sync(stage.daemon.start)
        await anyio.to_thread.run_sync(gate.open)
        assert await shown.read_to_end(60) == 0
    lines = shown.screen.text.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["✓", "run"], ["✓", "pure"], ["✓", "run"]]
    assert "went away" not in shown.screen.text


async def test_a_step_that_a_crash_cut_is_decided_by_a_person(stage: Stage) -> None:
    """A cut step with effects ends the watch with 6; the decision that it names lets the run go on."""
    gate = stage.gate()
    path = stage.plan_file(chain(deed("s1", "run", gate=gate), deed("s2", "pure")))
    asked: list[Printed] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            asked.append(await stage.aeonctl("ask", "--plan", path))

        group.start_soon(ask)
        await anyio.to_thread.run_sync(gate.held)
        await anyio.to_thread.run_sync(stage.daemon.restart)
    assert (asked[0].code, "aeonctl decide" in asked[0].err) == (6, True)
    assert (await stage.aeonctl("runs", "--state", "suspended")).out.count("\n") == 1
    assert (await stage.aeonctl("decide", "last", "done")).code == 0
    assert (await stage.aeonctl("watch", "-q", "last")).code == 0


async def test_the_async_client_misses_nothing_over_crashes(stage: Stage) -> None:
    """Killed again and again, the daemon's events reach an asyncio program gapless and once."""
    gates = [stage.gate(f"gate{n}") for n in range(3)]
    plan = chain(*(deed(f"s{n}", "pure", gate=gate) for n, gate in enumerate(gates)))
    numbers: list[int] = []
    with anyio.fail_after(90):
        async with AsyncClient(stage.socket) as client, anyio.create_task_group() as group:
            run = await client.create_run("deeds", RunOptions(plan=plan))

            async def watch() -> None:
                async for event in client.watch(run.run_id):
                    if event.seq:
                        numbers.append(event.seq)
                    if isinstance(event.kind, RunEnded):
                        assert event.kind.state is RunState.SUCCEEDED

            group.start_soon(watch)
            for n, gate in enumerate(gates):
                await anyio.to_thread.run_sync(gate.held)
                if n < 2:  # a third crash would make it a suspect that waits for a person
                    await anyio.to_thread.run_sync(stage.daemon.restart)
                await anyio.to_thread.run_sync(gate.open)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 10
