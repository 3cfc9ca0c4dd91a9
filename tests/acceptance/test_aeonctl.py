"""aeonctl against the real daemon, over its crashes."""

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from aeond_client import AsyncClient, RunOptions
from aeond_client.events import RunEnded
from aeond_client.runs import RunState
from tests.support.aeonctl import command, environment
from tests.support.ledgers import chain, deed
from tests.support.screens import terminal


def plan_file(folder: Path, *steps: Any) -> str:
    """A plan as a person would write it down."""
    written = [
        {"step_id": s.step_id, "tool": s.tool, "arguments": s.arguments, "depends_on": list(s.depends_on)}
        for s in chain(*steps).steps
    ]
    path = folder / "plan.json"
    path.write_text(json.dumps({"goal": "deeds", "steps": written}), encoding="utf-8")
    return str(path)


def told(stage: Any) -> dict[str, str]:
    return environment(AEOND_SOCKET=stage.socket, TERM="xterm-256color")


async def printed(stage: Any, *words: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of a command in the stage's workspace."""
    with anyio.fail_after(60):
        finished = await anyio.run_process(command(*words), env=told(stage), check=False, cwd=stage.workspace)
    return finished.returncode, finished.stdout.decode(), finished.stderr.decode()


async def test_asked_listed_shown_and_remembered(stage: Any) -> None:
    """A plan is run, its answer printed alone, its steps shown, and what it remembers is there."""
    steps = [
        {"step_id": "s1", "tool": "calculator", "arguments": {"expression": "17.5 / 100 * 2400"}},
        {
            "step_id": "s2",
            "tool": "memory_write",
            "arguments": {"key": "bonus", "value": "$s1.result"},
            "depends_on": ["s1"],
        },
    ]
    path = stage.workspace / "plan.json"
    path.write_text(json.dumps({"goal": "the bonus", "steps": steps}), encoding="utf-8")
    code, out, _ = await printed(stage, "ask", "-q", "--plan", str(path))
    assert (code, "420" in out) == (0, True)
    assert (await printed(stage, "memory", "get", "bonus"))[:2] == (0, "420\n")
    code, out, _ = await printed(stage, "show", "last")
    assert code == 0
    assert "calculator 17.5 / 100 * 2400" in out
    assert '{"result": 420}' in out
    code, out, _ = await printed(stage, "runs", "--json")
    assert [json.loads(line)["state"] for line in out.splitlines()] == ["succeeded"]


async def test_files_are_read_where_the_user_is(stage: Any) -> None:
    """A tool called by hand works in the current folder, and not outside of it."""
    (stage.workspace / "note.txt").write_text("hello\n", encoding="utf-8")
    code, out, _ = await printed(stage, "call", "read_file", "path=note.txt")
    assert (code, "hello" in out) == (0, True)
    code, out, err = await printed(stage, "call", "read_file", "path=../daemon.log")
    assert (code, out) == (1, "")
    assert "read_file failed" in err


async def test_the_live_view_survives_a_crash_of_the_daemon(stage: Any) -> None:
    """A person who watches sees the daemon go and come back, every step once, and the answer."""
    gate = stage.gate()
    path = plan_file(stage.workspace, deed("s1", "run"), deed("s2", "pure", gate=gate), deed("s3", "run"))
    async with terminal(
        command("ask", "--workspace", str(stage.workspace), "--plan", path), environment=told(stage)
    ) as shown:
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


async def test_a_step_that_a_crash_cut_is_decided_by_a_person(stage: Any) -> None:
    """A cut step with effects ends the watch with 6; the decision that it names lets the run go on."""
    gate = stage.gate()
    path = plan_file(stage.workspace, deed("s1", "run", gate=gate), deed("s2", "pure"))
    ask = ("ask", "--plan", path)
    results: list[tuple[int, str, str]] = []
    async with anyio.create_task_group() as group:

        async def run() -> None:
            results.append(await printed(stage, *ask))

        group.start_soon(run)
        await anyio.to_thread.run_sync(gate.held)
        await anyio.to_thread.run_sync(stage.daemon.restart)
    code, _, err = results[0]
    assert (code, "aeonctl decide" in err) == (6, True)
    assert (await printed(stage, "runs", "--state", "suspended"))[1].count("\n") == 1
    assert (await printed(stage, "decide", "last", "done"))[0] == 0
    assert (await printed(stage, "watch", "-q", "last"))[0] == 0


async def test_the_async_client_misses_nothing_over_crashes(stage: Any) -> None:
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
