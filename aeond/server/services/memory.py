"""Implementation of MemoryService."""

from collections.abc import Sequence

from aeond.api.v1 import memory_pb2 as pb
from aeond.domain.facts import BY_CLIENT
from aeond.domain.runs.run import Owner
from aeond.domain.values import JsonValue
from aeond.server.calls import MemoryCalls
from aeond.server.wire import checks
from aeond.server.wire.json_text import json_text, json_value, plain_text
from aeond.server.wire.pages import page_of, page_size, page_start

MAX_KEY_CHARS = 512
MAX_VALUE_BYTES = 256 << 10


class MemoryShim:
    """Implements MemoryService."""

    def __init__(self, calls: MemoryCalls) -> None:
        self._calls = calls

    async def write_memory(self, request: pb.WriteMemoryRequest, _caller: Owner) -> pb.WriteMemoryResponse:
        value = json_value(request.value_json, "value_json", MAX_VALUE_BYTES)
        await self._calls.write(checks.one_line(request.key, "key", MAX_KEY_CHARS, least=1), value)
        return pb.WriteMemoryResponse()

    async def read_memory(self, request: pb.ReadMemoryRequest, _caller: Owner) -> pb.ReadMemoryResponse:
        value = await self._calls.read(_key(request.key))
        (entry,) = await self._entries([(request.key, value)])
        return pb.ReadMemoryResponse(entry=entry)

    async def search_memory(self, request: pb.SearchMemoryRequest, _caller: Owner) -> pb.SearchMemoryResponse:
        prefix = checks.bounded_text(request.prefix, "prefix", MAX_KEY_CHARS)
        size, scope = page_size(request.page_size), f"memory {prefix}"
        found = await self._calls.search(prefix, after=page_start(request.page_token, scope), limit=size + 1)
        entries = await self._entries(found)
        shown, token = page_of(entries, size, scope, lambda entry: entry.key, pb.MemoryEntry.ByteSize)
        return pb.SearchMemoryResponse(entries=shown, next_page_token=token)

    async def _entries(self, found: Sequence[tuple[str, JsonValue]]) -> list[pb.MemoryEntry]:
        sources = await self._calls.sources([key for key, _ in found])
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

    async def delete_memory(self, request: pb.DeleteMemoryRequest, _caller: Owner) -> pb.DeleteMemoryResponse:
        return pb.DeleteMemoryResponse(existed=await self._calls.delete(_key(request.key)))


def _key(key: str) -> str:
    return checks.bounded_text(key, "key", MAX_KEY_CHARS, least=1)
