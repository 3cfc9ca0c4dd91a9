"""Memory operations for clients."""

from collections.abc import Mapping, Sequence

from aeond.domain.facts import FactSource
from aeond.domain.values import JsonValue
from aeond.errors import NotFoundError
from aeond.ports import Memory
from aeond.service.runs.admission import Admission


class MemoryKeys:
    """Keys and values; errors as specified by the Memory port."""

    def __init__(self, memory: Memory, admission: Admission) -> None:
        self._memory = memory
        self._admission = admission

    async def write(self, key: str, value: JsonValue) -> None:
        self._admission.check()
        await self._memory.write(key, value)

    async def sources(self, keys: Sequence[str]) -> Mapping[str, FactSource]:
        """The sources of the facts that runs wrote, by key."""
        return await self._memory.sources(keys)

    async def read(self, key: str) -> JsonValue:
        """NotFoundError (reason KEY_NOT_FOUND) if the key does not exist; null is a value."""
        value = await self._memory.read(key)
        if value is None and [key] != [k for k, _ in await self._memory.search(key, limit=1)]:
            raise NotFoundError(f"key {key!r} does not exist", reason="KEY_NOT_FOUND", field="key")
        return value

    async def search(self, prefix: str, *, after: str, limit: int) -> Sequence[tuple[str, JsonValue]]:
        """Keys that start with the prefix and come after the given one, sorted, with their values."""
        return await self._memory.search(prefix, limit=limit, after=after)

    async def delete(self, key: str) -> bool:
        self._admission.check()
        return await self._memory.delete(key)
