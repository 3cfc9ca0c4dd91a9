"""Implementation of MemoryService."""

from collections.abc import Sequence

from aeond.api.v1 import memory_pb2 as pb
from aeond.domain.facts import BY_CLIENT
from aeond.domain.runs.run import Caller
from aeond.domain.values import JsonValue
from aeond.server.calls import MemoryCalls
from aeond.server.services.administration import require_admin
from aeond.server.wire import checks
from aeond.server.wire.json_text import json_text, json_value, plain_text
from aeond.server.wire.pages import page_of, page_size, page_start

MAX_KEY_CHARS = 512
MAX_VALUE_BYTES = 256 << 10


class MemoryShim:
    def __init__(self, calls: MemoryCalls) -> None:
        self._calls = calls

    async def write_memory(self, request: pb.WriteMemoryRequest, caller: Caller) -> pb.WriteMemoryResponse:
        value = json_value(request.value_json, "value_json", MAX_VALUE_BYTES)
        key = checks.one_line(request.key, "key", MAX_KEY_CHARS, least=1)
        await self._calls.write(_uid(request, caller), key, value)
        return pb.WriteMemoryResponse()

    async def read_memory(self, request: pb.ReadMemoryRequest, caller: Caller) -> pb.ReadMemoryResponse:
        uid = _uid(request, caller)
        value = await self._calls.read(uid, _key(request.key))
        (entry,) = await self._entries(uid, [(request.key, value)])
        return pb.ReadMemoryResponse(entry=entry)

    async def search_memory(self, request: pb.SearchMemoryRequest, caller: Caller) -> pb.SearchMemoryResponse:
        prefix = checks.bounded_text(request.prefix, "prefix", MAX_KEY_CHARS)
        size, scope = page_size(request.page_size), f"memory {prefix}"
        uid = _uid(request, caller)
        after = page_start(request.page_token, scope)
        found = await self._calls.search(uid, prefix, after=after, limit=size + 1)
        entries = await self._entries(uid, found)
        shown, token = page_of(entries, size, scope, lambda entry: entry.key, pb.MemoryEntry.ByteSize)
        return pb.SearchMemoryResponse(entries=shown, next_page_token=token)

    async def delete_memory(self, request: pb.DeleteMemoryRequest, caller: Caller) -> pb.DeleteMemoryResponse:
        return pb.DeleteMemoryResponse(
            existed=await self._calls.delete(_uid(request, caller), _key(request.key))
        )

    async def _entries(self, uid: int, found: Sequence[tuple[str, JsonValue]]) -> list[pb.MemoryEntry]:
        sources = await self._calls.sources(uid, [key for key, _ in found])
        return [
            pb.MemoryEntry(
                key=key,
                value_json=json_text(value),
                run_id=source.run_id,
                taint=map(plain_text, source.taint),
            )
            for key, value in found
            for source in (sources.get(key, BY_CLIENT),)
        ]


def _uid(
    request: pb.WriteMemoryRequest | pb.ReadMemoryRequest | pb.SearchMemoryRequest | pb.DeleteMemoryRequest,
    caller: Caller,
) -> int:
    """The user whose memory the request is about."""
    if not request.HasField("uid") or request.uid == caller.owner.uid:
        return caller.owner.uid
    require_admin(caller, "use the memory of another user")
    return request.uid


def _key(key: str) -> str:
    return checks.bounded_text(key, "key", MAX_KEY_CHARS, least=1)
