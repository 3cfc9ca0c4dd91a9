"""The size of the requests that are held for one user."""

import os
from pathlib import Path

import anyio
import grpc
import pytest

from aeond.api.v1 import memory_pb2
from aeond.domain.runs.run import Caller, Owner
from aeond.errors import OverloadedError
from aeond.server.request_sizes import RequestSizes
from tests.support.api_world import DEADLINE_SECONDS, Stubs, api_world, refused


def sizes(limit_bytes: int) -> RequestSizes:
    """Peers are named by their uid here."""
    return RequestSizes(lambda peer: Caller(Owner(int(peer), 1)), limit_bytes)


def test_a_user_at_the_limit_is_refused_and_others_are_not() -> None:
    """The refusal names the user and the key to raise; requests that ended no longer count."""
    held = sizes(100)
    with held.holding("1000", 60), held.holding("1000", 40):
        with (
            pytest.raises(OverloadedError, match=r"user 1000 .* socket[.]max_request_mib_per_user") as raised,
            held.holding("1000", 1),
        ):
            pytest.fail("it was admitted")
        assert raised.value.reason == "USER_BYTES"
        with held.holding("2000", 100):
            pass
    with held.holding("1000", 100):
        pass


async def test_a_call_beyond_the_limit_of_its_user_is_refused(tmp_path: Path) -> None:
    """A client reads RESOURCE_EXHAUSTED with the reason and its own user; smaller requests are answered."""
    with anyio.fail_after(DEADLINE_SECONDS):
        async with api_world(tmp_path) as world, world.channel() as channel:
            world.api.adopt(world.entry, request_limit_bytes=1_000)
            memory = Stubs(channel).memory
            large = memory_pb2.WriteMemoryRequest(key="k", value_json=f'"{"x" * 2_000}"')
            async with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "USER_BYTES"):
                await memory.WriteMemory(large)
            await memory.WriteMemory(memory_pb2.WriteMemoryRequest(key="k", value_json="1"))
            assert world.behind.memory.by_user[os.getuid()] == {"k": 1}
