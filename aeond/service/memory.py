"""Memory operations for clients."""

from collections.abc import Mapping, Sequence

from aeond.domain.facts import FactSource
from aeond.domain.values import JsonValue
from aeond.errors import NotFoundError
from aeond.ports import Memories
from aeond.service.runs.admission import Admission


class MemoryKeys:
    """A user's keys and values; errors as specified by the Memory port. Nothing shows what keys other users have."""

    def __init__(self, memories: Memories, admission: Admission) -> None:
        self._memories = memories
        self._admission = admission

    async def write(self, uid: int, key: str, value: JsonValue) -> None:
        self._admission.check()
        await self._memories.of(uid).write(key, value)

    async def sources(self, uid: int, keys: Sequence[str]) -> Mapping[str, FactSource]:
        """The sources of the facts that runs wrote, by key."""
        return await self._memories.of(uid).sources(keys)

    async def read(self, uid: int, key: str) -> JsonValue:
        """NotFoundError (reason KEY_NOT_FOUND) if the key does not exist; null is a value."""
        memory = self._memories.of(uid)
        value = await memory.read(key)
        if value is None and [key] != [k for k, _ in await memory.search(key, limit=1, most_chars=0)]:
            raise NotFoundError(f"key {key!r} does not exist", reason="KEY_NOT_FOUND", field="key")
        return value

    async def search(
        self, uid: int, prefix: str, *, after: str, limit: int
    ) -> Sequence[tuple[str, JsonValue]]:
        """Keys that start with the prefix and come after the given one, sorted, with their values."""
        return await self._memories.of(uid).search(prefix, limit=limit, after=after)

    async def delete(self, uid: int, key: str) -> bool:
        self._admission.check()
        return await self._memories.of(uid).delete(key)
