"""Forks and replays of runs, by the real daemon and from the command line."""

from dataclasses import replace
from pathlib import Path

import anyio

from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.domain.runs.events import PassStarted, RunCreated
from aeond_client import AsyncClient, RunOptions
from aeond_client.events import StepStarted
from aeond_client.records.runs import Plan, PlanStep, RunState
from tests.support.collecting import ended
from tests.support.journals import all_events
from tests.support.ledgers import chain, deed
from tests.support.stages import Stage

THREE = (deed("s1", "pure"), deed("s2", "run"), deed("s3", "pure"))


async def done(client: AsyncClient, workspace: Path, *steps: PlanStep) -> str:
    """A run of these steps, once it has ended."""
    options = RunOptions(plan=chain(*steps), workspace=str(workspace))
    run = await client.create_run("deeds", options)
    return (await ended(client, run.run_id)).run_id


async def test_a_run_replays_to_the_events_that_its_watchers_got(shared: Stage) -> None:
    """A replay needs neither tools nor model and gives the run's own events, whole or up to one of them."""
    with anyio.fail_after(60):
        async with AsyncClient(shared.socket) as client:
            run_id = await done(client, shared.workspace, *THREE)
            deeds = shared.ledger.lines
            async with client.watch(run_id) as events:
                watched = [event async for event in events if event.seq]
            replayed = [event async for event in client.replay_run(run_id)]
            assert replayed == watched
            assert [event async for event in client.replay_run(run_id, 4)] == watched[:4]
            assert shared.ledger.lines == deeds


async def test_a_fork_does_only_what_comes_after_its_point(shared: Stage) -> None:
    """A fork from the third step runs that step alone; the run that it came from stays as it was."""
    with anyio.fail_after(60):
        async with AsyncClient(shared.socket) as client:
            run_id = await done(client, shared.workspace, *THREE)
            async with client.watch(run_id) as events:
                watched = [event async for event in events]
            before = next(
                event.seq - 1
                for event in watched
                if isinstance(event.kind, StepStarted) and event.kind.step.step_id == "s3"
            )
            forked = await client.fork_run(run_id, before)
            fork = await ended(client, forked.run_id)
            assert fork.state is RunState.SUCCEEDED
            first = await client.get_run(run_id)
            assert [step.output for step in fork.steps][:2] == [step.output for step in first.steps][:2]
            assert shared.ledger.begun(forked.run_id) == {"s3": 1}


async def test_a_fork_may_go_on_with_another_plan(shared: Stage) -> None:
    """On the command line, a fork keeps executed steps, takes the rest from the new plan, and both runs can
    be replayed."""
    first = PlanStep("s1", "", "calculator", {"expression": "2 + 3"})
    printed = await shared.aeonctl("ask", "-q", "--plan", shared.plan_file(chain(first)))
    assert (printed.code, "5" in printed.out) == (0, True), printed.err
    more = shared.plan_file(chain(first, PlanStep("s2", "", "calculator", {"expression": "$s1.result * 10"})))
    printed = await shared.aeonctl("fork", "last", "--step", "s1", "--plan", more)
    assert (printed.code, "50" in printed.out) == (0, True), printed.err
    printed = await shared.aeonctl("replay", "last", "--json")
    assert printed.code == 0
    kinds = [line["kind"] for line in printed.json_lines]
    assert kinds[0] == "run_created"
    assert kinds[-1] == "run_ended"
    assert "plan_adopted" in kinds
    assert printed.err == f"{len(kinds)} events replayed: identical to the record.\n"


async def test_a_fork_between_steps_that_began_together_replays(shared: Stage) -> None:
    """From the command line: a fork where the second of two parallel steps began does both and can be replayed."""
    together = Plan("side by side", (deed("s1", "pure"), deed("s2", "pure"), deed("s3", "pure", "s1", "s2")))
    assert (await shared.aeonctl("ask", "-q", "--plan", shared.plan_file(together))).code == 0
    assert (await shared.aeonctl("fork", "last", "--step", "s2")).code == 0
    printed = await shared.aeonctl("replay", "last")
    assert (printed.code, "replayed: identical to the record" in printed.err) == (0, True), printed.err


async def test_a_record_that_was_altered_does_not_replay(stage: Stage) -> None:
    """From the command line: where code and record part the replay stops, says where, and fails with exit code 1."""
    async with AsyncClient(stage.socket) as client:
        run_id = await done(client, stage.workspace, *THREE)
    stage.daemon.stop()
    async with SqliteJournal(stage.daemon.state_dir / "journal.db") as journal:
        events = [replace(event, run_id="altered") for event in await all_events(journal, run_id)]
        created = events[0].kind
        assert isinstance(created, RunCreated)
        again = replace(created, request=replace(created.request, request_id="another"))
        events[0] = replace(events[0], kind=again)
        begun = next(n for n, event in enumerate(events) if isinstance(event.kind, PassStarted))
        events[begun] = replace(events[begun], kind=PassStarted(7))
        await journal.append(events)
    stage.daemon.start()
    printed = await stage.aeonctl("replay", "altered")
    assert printed.code == 1
    assert f"event {begun + 1} is PassStarted" in printed.err
    assert "replayed: identical to the record" not in printed.err


async def test_the_last_run_is_the_newest_after_the_clock_went_back(stage: Stage) -> None:
    """A run created after a restart with an earlier clock is `last`, although the runs before it have later times."""
    async with AsyncClient(stage.socket) as client:
        run_id = await done(client, stage.workspace, deed("s1", "pure"))
    stage.daemon.stop()
    later = f"{int(run_id[:8], 16) + 0x10000:08x}{run_id[8:]}"
    async with SqliteJournal(stage.daemon.state_dir / "journal.db") as journal:
        events = [replace(event, run_id=later) for event in await all_events(journal, run_id)]
        created = events[0].kind
        assert isinstance(created, RunCreated)
        again = replace(created, request=replace(created.request, request_id="another"))
        await journal.append([replace(events[0], kind=again), *events[1:]])
    stage.daemon.start()
    async with AsyncClient(stage.socket) as client:
        newest = await done(client, stage.workspace, deed("s1", "pure"))
        assert [run.run_id for run in await client.list_runs()] == [newest, later, run_id]


async def test_a_fork_where_a_step_never_began_is_refused(shared: Stage) -> None:
    """A step that the run never began is no place to fork, and that is said."""
    path = shared.plan_file(chain(deed("s1", "pure")))
    assert (await shared.aeonctl("ask", "-q", "--plan", path)).code == 0
    printed = await shared.aeonctl("fork", "last", "--step", "s9")
    assert printed.code == 2
    assert "has not started a step s9" in printed.err


async def test_a_fork_with_an_unknown_model_is_refused(shared: Stage) -> None:
    """A fork with a model that the catalogue lacks is refused with how to find one that it has."""
    async with AsyncClient(shared.socket) as client:
        run_id = await done(client, shared.workspace, deed("s1", "pure"))
    printed = await shared.aeonctl("fork", run_id, "--model", "another")
    assert printed.code != 0
    assert "model 'another' does not exist: list the models" in printed.err
