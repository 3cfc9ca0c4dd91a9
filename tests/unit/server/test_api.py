from pathlib import Path

import anyio
import grpc
import pytest

from aeond.api.v1 import daemon_pb2, parts_pb2, runs_pb2
from aeond.domain.runs.events import Event, RunStarted, RunSuspended
from aeond.domain.runs.run import SuspendReason
from tests.support.api_world import DEADLINE_SECONDS, ApiWorld, Stubs, api_world, status_of

SUSPENDED = RunSuspended(SuspendReason.DISK_FULL, "x" * 10_000)
HELLO = runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="hello"))


def flood(world: ApiWorld) -> None:
    """Lets far more happen than any buffer on the way holds."""
    events = [Event("run-0001", seq, 1.0, 1.0, SUSPENDED) for seq in range(2, 5_000)]
    world.behind.runs.show("run-0001", *events)


async def test_draining_ends_streams_with_their_cursor_and_answers_calls(
    world: ApiWorld, client: Stubs
) -> None:
    """At drain a stream ends with DRAINING and the last seq it was sent; new streams are refused; calls
    that are no streams are still answered."""
    call = client.runs.RunAndWatch(HELLO)
    with anyio.fail_after(DEADLINE_SECONDS):
        await call.read()
        await call.read()
        world.behind.runs.happen("run-0001", RunStarted())
        await call.read()
        await world.behind.runs.waiting.reaches(1)
        await world.api.drain()
        with pytest.raises(grpc.RpcError) as raised:
            await call.read()
        code, metadata = status_of(raised.value)
        assert (code, metadata["reason"], metadata["last-seq"]) == (
            grpc.StatusCode.UNAVAILABLE,
            "DRAINING",
            "2",
        )
        assert int(metadata["retry-after-ms"]) > 0
        assert world.behind.runs.watchers.now == 0
        with pytest.raises(grpc.RpcError) as raised:
            async for _ in client.runs.WatchRun(runs_pb2.WatchRunRequest(run_id="run-0001")):
                pass
        assert status_of(raised.value)[1]["reason"] == "DRAINING"
        run = (await client.runs.GetRun(runs_pb2.GetRunRequest(run_id="run-0001"))).run
        assert run.last_seq == 2


async def test_closing_ends_streams_before_connections(tmp_path: Path) -> None:
    """A client of a daemon that stops reads DRAINING and a cursor, not a broken connection."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world:
            channel = world.channel()
            call = Stubs(channel).runs.RunAndWatch(HELLO)
            await call.read()
            await call.read()
            await world.behind.runs.waiting.reaches(1)
        with pytest.raises(grpc.RpcError) as raised:
            await call.read()
        assert status_of(raised.value)[1]["last-seq"] == "1"
        await channel.close()


async def test_a_client_that_stops_reading_is_given_its_resume_position(tmp_path: Path) -> None:
    """An unread stream ends with STREAM_STALLED and a resume position without gaps, long after the service
    stopped working for it.
    """
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path, stall_seconds=2.0) as world, world.channel() as channel:
            client = Stubs(channel)
            stalled = client.runs.RunAndWatch(HELLO)
            responses = aiter(stalled)
            assert (await anext(responses)).run.run_id == "run-0001"
            flood(world)
            await world.behind.runs.watchers.reaches(0)
            seqs: list[int] = []
            with pytest.raises(grpc.RpcError) as raised:
                async for response in responses:
                    seqs += [event.seq for event in response.events]
            code, metadata = status_of(raised.value)
            assert (code, metadata["reason"]) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STREAM_STALLED")
            assert seqs == list(range(1, len(seqs) + 1))
            assert 1 < int(metadata["last-seq"]) <= seqs[-1] < 4_999


async def test_a_stalled_stream_does_not_slow_its_neighbours(tmp_path: Path) -> None:
    """While one stream of a connection stalls, other calls of the same client are answered."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            client = Stubs(channel)
            stalled = client.runs.RunAndWatch(HELLO)
            await stalled.read()
            flood(world)
            for _ in range(50):
                assert (await client.daemon.GetStatus(daemon_pb2.GetStatusRequest())).load.streams == 1
            stalled.cancel()
