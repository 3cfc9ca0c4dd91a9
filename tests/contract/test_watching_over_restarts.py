"""A watch outlives the daemon: nothing lost, nothing twice, and it does not wait for ever."""

import random
from pathlib import Path
from typing import Any

import anyio
import grpc
import pytest

from aeond.api.v1 import events_pb2
from aeond_client import AsyncClient, Client, Event, Outage, errors
from aeond_client.events import RunStarted
from tests.support import wire_events
from tests.support.scripted_daemon import ScriptedDaemon, ScriptedRun, journal_of
from tests.support.surfaces import SURFACES, wait_until

KILLS = 200


class Watcher:
    """Watches a run on a task or thread of its own and keeps what it was given."""

    def __init__(self, client: AsyncClient | Client, run_id: str, patience_seconds: float = 30.0) -> None:
        self.client = client
        self.run_id = run_id
        self.patience_seconds = patience_seconds
        self.events: list[Event] = []
        self.outages: list[Outage | None] = []
        self.error: errors.AeondError | None = None

    @property
    def numbers(self) -> list[int]:
        return [event.seq for event in self.events if event.seq]

    async def watch(self) -> None:
        options: dict[str, Any] = {
            "patience_seconds": self.patience_seconds,
            "on_outage": self.outages.append,
        }
        try:
            if isinstance(self.client, AsyncClient):
                async for event in self.client.watch(self.run_id, **options):
                    self.events.append(event)
            else:
                await anyio.to_thread.run_sync(self._watch_in_thread, options)
        except errors.AeondError as error:
            self.error = error

    def _watch_in_thread(self, options: dict[str, Any]) -> None:
        assert isinstance(self.client, Client)
        for event in self.client.watch(self.run_id, **options):
            self.events.append(event)


def endless(daemon: ScriptedDaemon) -> None:
    """Runs that do nothing by themselves: the test appends what happens."""
    daemon.runs.script = lambda _: [wire_events.created()]


def append(run: ScriptedRun, count: int) -> None:
    for number in range(count):
        run.append(events_pb2.TextDelta(text="shown live only"))
        run.append(events_pb2.PassStarted(pass_index=number))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SURFACES))
async def test_two_hundred_kills_lose_and_double_nothing(tmp_path: Path, name: str) -> None:
    """Cut 200 times at random points, a watch has received exactly the journal, each number once."""
    dice = random.Random(f"kills of {name}")
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon, SURFACES[name](daemon.path) as surface:
        endless(daemon)
        run = daemon.runs.runs[(await surface.call("create_run", "anything")).run_id]
        watcher = Watcher(surface.client, run.run_id)
        with anyio.fail_after(240):
            async with anyio.create_task_group() as group:
                group.start_soon(watcher.watch)
                for _ in range(KILLS):
                    before = len(run.numbered)
                    append(run, dice.randrange(12))
                    goal = dice.randint(min(before, len(watcher.numbers)), len(run.numbered))
                    await wait_until(lambda goal=goal: len(watcher.numbers) >= goal)  # type: ignore[misc]  # bound now
                    await daemon.stop()
                    append(run, dice.randrange(3))
                    await daemon.start()
                run.append(wire_events.ended())
        assert watcher.error is None
        assert watcher.numbers == [seq for seq, _ in journal_of(run)]
        assert len(daemon.runs.watches) > KILLS / 4


@pytest.mark.parametrize("name", sorted(SURFACES))
async def test_the_caller_learns_of_an_outage_and_of_its_end(tmp_path: Path, name: str) -> None:
    """Each attempt during an outage is reported with the watch's position, and its end is reported once."""
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon, SURFACES[name](daemon.path) as surface:
        endless(daemon)
        run = daemon.runs.runs[(await surface.call("create_run", "anything")).run_id]
        watcher = Watcher(surface.client, run.run_id)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(watcher.watch)
                await wait_until(lambda: watcher.numbers == [1])
                await daemon.stop()
                await wait_until(lambda: len(watcher.outages) >= 3)
                await daemon.start()
                run.append(wire_events.ended())
        reported, end = watcher.outages[:-1], watcher.outages[-1]
        assert end is None
        assert all(
            outage is not None and (outage.run_id, outage.last_seq) == (run.run_id, 1) for outage in reported
        )
        waited = [outage.waited_seconds for outage in reported if outage is not None]
        assert waited == sorted(waited)
        assert waited[0] == 0


@pytest.mark.parametrize("name", sorted(SURFACES))
async def test_patience_ends(tmp_path: Path, name: str) -> None:
    """A daemon that does not come back within the patience ends the watch with what is wrong."""
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon, SURFACES[name](daemon.path) as surface:
        endless(daemon)
        run = daemon.runs.runs[(await surface.call("create_run", "anything")).run_id]
        watcher = Watcher(surface.client, run.run_id, patience_seconds=2.0)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(watcher.watch)
                await wait_until(lambda: watcher.numbers == [1])
                await daemon.stop()
        assert isinstance(watcher.error, errors.UnavailableError)
        assert "the socket does not exist" in watcher.error.message


async def test_a_watch_that_is_cancelled_in_mid_wait_loses_nothing(tmp_path: Path) -> None:
    """A wait for the next event may be given a deadline of the caller's: the next one goes on from there."""
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon, AsyncClient(daemon.path) as client:
        endless(daemon)
        run = daemon.runs.runs[(await client.create_run("anything")).run_id]
        numbers = []
        async with client.watch(run.run_id) as watch:
            numbers.append((await anext(watch)).seq)
            for _ in range(5):
                with anyio.move_on_after(0.01) as scope:
                    await anext(watch)
                assert scope.cancelled_caught
                run.append(events_pb2.RunStarted())
                with anyio.fail_after(60):
                    event = await anext(watch)
                numbers.append(event.seq)
                assert event.kind == RunStarted()
        assert numbers == [1, 2, 3, 4, 5, 6]
        await daemon.runs.open_watches.reaches(0)


async def test_a_watch_that_is_dropped_ends_its_call(tmp_path: Path) -> None:
    """Forgetting a watch without closing it frees the daemon of the stream."""
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon, AsyncClient(daemon.path) as client:
        endless(daemon)
        run = await client.create_run("anything")
        async for event in client.watch(run.run_id):
            assert event.seq == 1
            break
        await daemon.runs.open_watches.reaches(0)


@pytest.mark.parametrize("name", sorted(SURFACES))
async def test_closing_the_client_ends_its_watches(tmp_path: Path, name: str) -> None:
    """A watch does not survive its client, and says that the call was cut."""
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon:
        endless(daemon)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group, SURFACES[name](daemon.path) as surface:
                run_id = (await surface.call("create_run", "anything")).run_id
                watcher = Watcher(surface.client, run_id)
                group.start_soon(watcher.watch)
                await wait_until(lambda: watcher.numbers == [1])
        assert isinstance(watcher.error, errors.CallCancelledError)


async def test_a_draining_daemon_is_waited_for(tmp_path: Path) -> None:
    """A stream that the daemon ends because it stops is taken up again without a loss."""
    async with ScriptedDaemon(tmp_path / "aeond.sock") as daemon, AsyncClient(daemon.path) as client:
        endless(daemon)
        run = daemon.runs.runs[(await client.create_run("anything")).run_id]
        daemon.runs.cuts = [
            (grpc.StatusCode.UNAVAILABLE, "DRAINING"),
            (grpc.StatusCode.RESOURCE_EXHAUSTED, "STREAM_STALLED"),
        ]
        watcher = Watcher(client, run.run_id)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(watcher.watch)
                await wait_until(lambda: not daemon.runs.cuts)
                run.append(wire_events.ended())
        assert watcher.numbers == [1, 2]
        reasons = {outage.error.reason for outage in watcher.outages if outage is not None}
        assert reasons == {"DRAINING", "STREAM_STALLED"}
