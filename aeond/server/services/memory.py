"""Implementation of MemoryService."""

from aeond.api.v1 import memory_pb2 as pb
from aeond.domain.runs.run import Caller
from aeond.server.calls import MemoryCalls
from aeond.server.services.administration import require_admin
from aeond.server.wire import checks
from aeond.server.wire.json_text import json_text, json_value
from aeond.server.wire.pages import page_of, page_size, page_start

MAX_KEY_CHARS = 512
MAX_VALUE_BYTES = 256 << 10


class MemoryShim:
    """Implements MemoryService."""

    def __init__(self, calls: MemoryCalls) -> None:
        self._calls = calls

    async def write_memory(self, request: pb.WriteMemoryRequest, caller: Caller) -> pb.WriteMemoryResponse:
        value = json_value(request.value_json, "value_json", MAX_VALUE_BYTES)
        key = checks.one_line(request.key, "key", MAX_KEY_CHARS, least=1)
        await self._calls.write(_uid(request, caller), key, value)
        return pb.WriteMemoryResponse()

    async def read_memory(self, request: pb.ReadMemoryRequest, caller: Caller) -> pb.ReadMemoryResponse:
        value = await self._calls.read(_uid(request, caller), _key(request.key))
        return pb.ReadMemoryResponse(entry=pb.MemoryEntry(key=request.key, value_json=json_text(value)))

    async def search_memory(self, request: pb.SearchMemoryRequest, caller: Caller) -> pb.SearchMemoryResponse:
        prefix = checks.bounded_text(request.prefix, "prefix", MAX_KEY_CHARS)
        size, scope = page_size(request.page_size), f"memory {prefix}"
        found = await self._calls.search(
            _uid(request, caller), prefix, after=page_start(request.page_token, scope), limit=size + 1
        )
        entries = [pb.MemoryEntry(key=key, value_json=json_text(value)) for key, value in found]
        shown, token = page_of(entries, size, scope, lambda entry: entry.key, pb.MemoryEntry.ByteSize)
        return pb.SearchMemoryResponse(entries=shown, next_page_token=token)

    async def delete_memory(self, request: pb.DeleteMemoryRequest, caller: Caller) -> pb.DeleteMemoryResponse:
        return pb.DeleteMemoryResponse(
            existed=await self._calls.delete(_uid(request, caller), _key(request.key))
        )


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
