"""A memory without a disk: forgotten with the process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from anyio.lowlevel import checkpoint

from aeond.capabilities.memory.entries import (
    MAX_FOUND,
    MAX_FOUND_BYTES,
    MAX_VALUE_BYTES,
    check_key,
    check_new_key,
    check_prefix,
    decode_beginning,
    decode_value,
    encode_value,
)
from aeond.capabilities.memory.relevance import ranked
from aeond.capabilities.memory.schema import form_of
from aeond.domain.facts import BY_CLIENT, Fact, FactSource
from aeond.domain.values import JsonValue


class InMemoryMemory:
    """The Memories of tests, and the Memory of one of their users; values are copied in and out. It recalls by words
    alone.
    """

    def __init__(self, uid: int = -1) -> None:
        self._values: dict[str, str] = {}
        self._users = {uid: self}
        self._sources: dict[str, FactSource] = {}

    def of(self, uid: int) -> "InMemoryMemory":
        if uid not in self._users:
            user = self._users[uid] = InMemoryMemory(uid)
            user._users = self._users
        return self._users[uid]

    async def write(self, key: str, value: JsonValue, source: FactSource = BY_CLIENT) -> None:
        await checkpoint()
        self._values[check_new_key(key)] = encode_value(value)
        self._sources[key] = source

    async def sources(self, keys: Sequence[str]) -> Mapping[str, FactSource]:
        await checkpoint()
        recorded = {key: self._sources.get(check_key(key), BY_CLIENT) for key in keys if key in self._values}
        return {key: source for key, source in recorded.items() if source != BY_CLIENT}

    async def read(self, key: str) -> JsonValue | None:
        await checkpoint()
        text = self._values.get(check_key(key))
        return None if text is None else decode_value(text)

    async def search(
        self, prefix: str, limit: int = 100, after: str = "", most_chars: int | None = None
    ) -> Sequence[tuple[str, JsonValue]]:
        """See ports.Memory; at most 1,000 entries and about 4 MiB, but at least one."""
        await checkpoint()
        check_prefix(prefix)
        check_prefix(after)
        found: list[tuple[str, JsonValue]] = []
        size, shown = 0, MAX_VALUE_BYTES if most_chars is None else most_chars
        for key in sorted(self._values):
            if key.startswith(prefix) and key > after:
                found.append((key, decode_beginning(self._values[key], shown)))
                size += min(len(self._values[key]), shown)
                if len(found) >= max(1, min(limit, MAX_FOUND)) or size >= MAX_FOUND_BYTES:
                    break
        return found

    async def delete(self, key: str) -> bool:
        await checkpoint()
        return self._values.pop(check_key(key), None) is not None

    async def find(self, key: str) -> Fact | None:
        await checkpoint()
        check_key(key)
        alike = sorted((one != key, one) for one in self._values if form_of(one) == form_of(key))
        return Fact(alike[0][1], decode_value(self._values[alike[0][1]])) if alike else None

    async def recall(self, query: str, limit: int = 10, most_chars: int | None = None) -> Sequence[Fact]:
        await checkpoint()
        shown = MAX_VALUE_BYTES if most_chars is None else most_chars
        facts = [(key, decode_value(text)) for key, text in self._values.items()]
        best = ranked(query, facts, {}, max(1, min(limit, MAX_FOUND)))
        return [replace(fact, value=decode_beginning(self._values[fact.key], shown)) for fact in best]
