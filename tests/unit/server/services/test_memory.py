import json
import os
from typing import Any

import grpc
import pytest

from aeond.api.v1 import memory_pb2
from tests.support.api_world import ApiWorld, Stubs, refused


async def test_a_written_value_is_read_back(client: Stubs) -> None:
    """A value comes back as it was written; deleting says whether it was there."""
    await client.memory.WriteMemory(memory_pb2.WriteMemoryRequest(key="größe", value_json="[1, 2.5, null]"))
    answer = await client.memory.ReadMemory(memory_pb2.ReadMemoryRequest(key="größe"))
    assert (answer.entry.key, json.loads(answer.entry.value_json)) == ("größe", [1, 2.5, None])
    for existed in (True, False):
        deleted = await client.memory.DeleteMemory(memory_pb2.DeleteMemoryRequest(key="größe"))
        assert deleted.existed is existed
    async with refused(grpc.StatusCode.NOT_FOUND, "KEY_NOT_FOUND", "key"):
        await client.memory.ReadMemory(memory_pb2.ReadMemoryRequest(key="größe"))


async def test_searching_goes_through_pages(world: ApiWorld, client: Stubs) -> None:
    """All keys of a prefix come in order, upper and lower case apart, also when values are large."""
    world.behind.memory.by_user[os.getuid()] = {f"a{n}": "x" * 400_000 for n in range(5)} | {"A1": 1, "b": 2}
    seen: list[str] = []
    token = ""
    pages = 0
    while True:
        page = await client.memory.SearchMemory(memory_pb2.SearchMemoryRequest(prefix="a", page_token=token))
        seen += [entry.key for entry in page.entries]
        pages += 1
        token = page.next_page_token
        if not token:
            break
    assert seen == [f"a{n}" for n in range(5)]
    assert pages == 2


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (memory_pb2.WriteMemoryRequest(key="", value_json="1"), "EMPTY", "key"),
        (memory_pb2.WriteMemoryRequest(key="k" * 513, value_json="1"), "TOO_LONG", "key"),
        (memory_pb2.WriteMemoryRequest(key="k"), "INVALID_JSON", "value_json"),
        (memory_pb2.WriteMemoryRequest(key="k", value_json="NaN"), "INVALID_JSON", "value_json"),
        (
            memory_pb2.WriteMemoryRequest(key="k", value_json='"' + "x" * (1 << 20) + '"'),
            "TOO_LONG",
            "value_json",
        ),
    ],
)
async def test_an_invalid_memory_entry_is_rejected(
    world: ApiWorld, client: Stubs, request_: memory_pb2.WriteMemoryRequest, reason: str, field: str
) -> None:
    """Keys and values out of form are refused and nothing is written."""
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, reason, field):
        await client.memory.WriteMemory(request_)
    assert not world.behind.memory.by_user


async def test_an_administrator_uses_the_memory_of_any_user(
    world: ApiWorld, client: Stubs, admin: Stubs
) -> None:
    """A user is named by its uid on the administrative socket; on the main one only the caller's own is accepted."""
    await admin.memory.WriteMemory(memory_pb2.WriteMemoryRequest(key="k", value_json="1", uid=5))
    assert (
        await admin.memory.ReadMemory(memory_pb2.ReadMemoryRequest(key="k", uid=5))
    ).entry.value_json == "1"
    assert world.behind.memory.by_user[5] == {"k": 1}
    own = memory_pb2.SearchMemoryRequest(uid=os.getuid())
    assert not (await client.memory.SearchMemory(own)).entries
    assert not (await admin.memory.SearchMemory(memory_pb2.SearchMemoryRequest())).entries
    calls: list[tuple[Any, Any]] = [
        (client.memory.WriteMemory, memory_pb2.WriteMemoryRequest(key="k", value_json="2", uid=5)),
        (client.memory.ReadMemory, memory_pb2.ReadMemoryRequest(key="k", uid=5)),
        (client.memory.ReadMemory, memory_pb2.ReadMemoryRequest(key="missing", uid=5)),
        (client.memory.SearchMemory, memory_pb2.SearchMemoryRequest(uid=5)),
        (client.memory.DeleteMemory, memory_pb2.DeleteMemoryRequest(key="k", uid=5)),
    ]
    for call, request in calls:
        async with refused(grpc.StatusCode.PERMISSION_DENIED, "ADMIN_ONLY"):
            await call(request)
    assert (await admin.memory.DeleteMemory(memory_pb2.DeleteMemoryRequest(key="k", uid=5))).existed
