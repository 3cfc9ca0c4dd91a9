from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import grpc
import pytest

from aeond.api.v1 import parts_pb2, runs_pb2
from tests.support.api_world import ApiWorld, Stubs, api_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ApiWorld]:
    async with api_world(tmp_path) as world:
        yield world


@pytest.fixture
async def client(world: ApiWorld) -> AsyncIterator[Stubs]:
    async with world.channel() as channel:
        yield Stubs(channel)


async def test_smoke(client: Stubs) -> None:
    """Smoke."""
    with anyio.fail_after(10):
        r = await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="hi")))
        print(r)
        with pytest.raises(grpc.RpcError) as e:
            await client.runs.GetRun(runs_pb2.GetRunRequest(run_id="x"))
        print(e.value)
        print(await client.daemon.GetStatus(__import__("aeond.api.v1.daemon_pb2").api.v1.daemon_pb2.GetStatusRequest()))
