"""Forks and replays of runs, by the real daemon and from the command line."""

import json
from pathlib import Path
from typing import Any

import anyio

from aeond_client import AsyncClient, RunOptions
from aeond_client.events import StepStarted
from aeond_client.runs import RunState
from tests.acceptance.test_aeonctl import plan_file, printed
from tests.support.ledgers import chain, deed

THREE = (deed("s1", "pure"), deed("s2", "run"), deed("s3", "pure"))


async def done(client: AsyncClient, workspace: Path, *steps: Any) -> str:
    """A run of these steps, once it has ended."""
    options = RunOptions(plan=chain(*steps), workspace=str(workspace))
    run = await client.create_run("deeds", options)
    async with client.watch(run.run_id) as events:
        async for _ in events:
            pass
    return run.run_id


async def test_a_run_replays_to_the_events_that_its_watchers_got(stage: Any) -> None:
    """A replay needs neither tools nor model and gives the run's own events, whole or up to one of them."""
    with anyio.fail_after(60):
        async with AsyncClient(stage.socket) as client:
            run_id = await done(client, stage.workspace, *THREE)
            deeds = stage.ledger.lines
            async with client.watch(run_id) as events:
                watched = [event async for event in events if event.seq]
            replayed = [event async for event in client.replay_run(run_id)]
            assert replayed == watched
            assert [event async for event in client.replay_run(run_id, 4)] == watched[:4]
            assert stage.ledger.lines == deeds


async def test_a_fork_does_only_what_comes_after_its_point(stage: Any) -> None:
    """A fork from the third step runs that step alone; the run that it came from stays as it was."""
    with anyio.fail_after(60):
        async with AsyncClient(stage.socket) as client:
            run_id = await done(client, stage.workspace, *THREE)
            async with client.watch(run_id) as events:
                watched = [event async for event in events]
            before = next(
                event.seq - 1
                for event in watched
                if isinstance(event.kind, StepStarted) and event.kind.step.step_id == "s3"
            )
            forked = await client.fork_run(run_id, before)
            async with client.watch(forked.run_id) as events:
                async for _ in events:
                    pass
            fork = await client.get_run(forked.run_id)
            assert fork.state is RunState.SUCCEEDED
            first = await client.get_run(run_id)
            assert [step.output for step in fork.steps][:2] == [step.output for step in first.steps][:2]
            assert stage.ledger.begun(forked.run_id) == {"s3": 1}


async def test_a_fork_may_go_on_with_another_plan(stage: Any) -> None:
    """From the command line: what was executed stays, the rest is the new plan's, and both can be replayed."""
    steps = [{"step_id": "s1", "tool": "calculator", "arguments": {"expression": "2 + 3"}}]
    path = stage.workspace / "plan.json"
    path.write_text(json.dumps({"goal": "a sum", "steps": steps}), encoding="utf-8")
    code, out, err = await printed(stage, "ask", "-q", "--plan", str(path))
    assert (code, "5" in out) == (0, True), err
    more = {"step_id": "s2", "tool": "calculator", "arguments": {"expression": "$s1.result * 10"}}
    path.write_text(json.dumps({"goal": "more", "steps": [*steps, more]}), encoding="utf-8")
    code, out, err = await printed(stage, "fork", "last", "--step", "s1", "--plan", str(path))
    assert (code, "50" in out) == (0, True), err
    code, out, err = await printed(stage, "replay", "last", "--json")
    assert code == 0
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert kinds[0] == "run_created"
    assert kinds[-1] == "run_ended"
    assert "plan_adopted" in kinds
    assert err == f"{len(kinds)} events came out as recorded.\n"


async def test_a_fork_where_a_step_never_began_is_refused(stage: Any) -> None:
    """A step that the run never began is no place to fork, and that is said."""
    path = plan_file(stage.workspace, deed("s1", "pure"))
    assert (await printed(stage, "ask", "-q", "--plan", path))[0] == 0
    code, _, err = await printed(stage, "fork", "last", "--step", "s9")
    assert code == 2
    assert "has begun no step s9" in err


async def test_a_fork_with_an_unknown_model_is_refused(stage: Any) -> None:
    """A fork with a model that the catalogue lacks is refused with how to find one that it has."""
    async with AsyncClient(stage.socket) as client:
        run_id = await done(client, stage.workspace, deed("s1", "pure"))
    code, _, err = await printed(stage, "fork", run_id, "--model", "another")
    assert code != 0
    assert "there is no model 'another': list the models" in err
