"""Memory without a disk: forgotten with the process."""

from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from aeond.capabilities.memory.entries import (
    MAX_FOUND,
    MAX_FOUND_BYTES,
    check_key,
    check_prefix,
    decode_value,
    encode_value,
)
from aeond.domain.values import JsonValue


class InMemoryMemory:
    """A Memory for tests and for what need not outlive the process; values are copied in and out."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    async def write(self, key: str, value: JsonValue) -> None:
        await checkpoint()
        self._values[check_key(key)] = encode_value(value)

    async def read(self, key: str) -> JsonValue | None:
        await checkpoint()
        text = self._values.get(check_key(key))
        return None if text is None else decode_value(text)

    async def search(self, prefix: str, limit: int = 100, after: str = "") -> Sequence[tuple[str, JsonValue]]:
        """See ports.Memory; at most 1,000 entries and about 4 MiB, but at least one."""
        await checkpoint()
        check_prefix(prefix)
        check_prefix(after)
        found: list[tuple[str, JsonValue]] = []
        size = 0
        for key in sorted(self._values):
            if key.startswith(prefix) and key > after:
                found.append((key, decode_value(self._values[key])))
                size += len(self._values[key])
                if len(found) >= max(1, min(limit, MAX_FOUND)) or size >= MAX_FOUND_BYTES:
                    break
        return found

    async def delete(self, key: str) -> bool:
        await checkpoint()
        return self._values.pop(check_key(key), None) is not None
