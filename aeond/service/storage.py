"""The bound on what one user stores: facts, sessions and runs together."""

from collections.abc import Mapping
from typing import Final, Protocol

from aeond.domain.facts import BY_CLIENT, FactSource
from aeond.domain.values import JsonValue, canonical_json
from aeond.errors import WrongStateError
from aeond.ports import Memories, Memory

_MIB: Final = 1 << 20


class UserStorage(Protocol):
    """A store that knows what each user keeps in it."""

    def stored_bytes(self, uid: int) -> int:
        """About how many bytes of the disk this user's entries take; known without reading anything."""


class StorageLimit:
    """Refuses further entries of a user whose stores take `limit_bytes` or more (0: without limit).

    It is checked before an entry is begun, so that nothing is lost: a run that was accepted is completed, and the last
    entry may exceed the limit. `unlimited` users have none: the administrators, who could fill the disk anyway.
    """

    def __init__(
        self, stores: Mapping[str, UserStorage], limit_bytes: int, unlimited: frozenset[int] = frozenset()
    ) -> None:
        self._stores = stores
        self._limit_bytes = limit_bytes
        self._unlimited = unlimited

    def adopt(self, limit_bytes: int) -> None:
        """Applies this limit from now on."""
        self._limit_bytes = limit_bytes

    def is_reached(self, uid: int) -> bool:
        """Whether this user can store nothing more."""
        if not self._limit_bytes or uid in self._unlimited:
            return False
        return sum(store.stored_bytes(uid) for store in self._stores.values()) >= self._limit_bytes

    def check(self, uid: int) -> None:
        """WrongStateError (reason USER_STORAGE_FULL) if this user can store nothing more."""
        if not self.is_reached(uid):
            return
        parts = ", ".join(
            f"{name} {store.stored_bytes(uid) / _MIB:.1f} MiB" for name, store in self._stores.items()
        )
        raise WrongStateError(
            f"user {uid} stores {self._limit_bytes / _MIB:g} MiB or more, the limit for one user ({parts}): delete runs,"
            " sessions or facts that are no longer needed, or have an administrator raise"
            " daemon.max_stored_mib_per_user",
            reason="USER_STORAGE_FULL",
        )


class BoundedMemories:
    """The Memories, with writes that the storage limit of their user refuses. A fact may always become smaller."""

    def __init__(self, memories: Memories, limit: StorageLimit) -> None:
        self._memories = memories
        self._limit = limit

    def of(self, uid: int) -> Memory:
        return _BoundedMemory(self._memories.of(uid), self._limit, uid)


class _BoundedMemory:
    """A Memory of one user."""

    def __init__(self, memory: Memory, limit: StorageLimit, uid: int) -> None:
        self._limit = limit
        self._uid = uid
        self._memory = memory
        self.sources, self.read, self.search = memory.sources, memory.read, memory.search
        self.delete, self.find, self.recall = memory.delete, memory.find, memory.recall

    async def write(self, key: str, value: JsonValue, source: FactSource = BY_CLIENT) -> None:
        """WrongStateError (reason USER_STORAGE_FULL) for a new or a larger fact at the limit."""
        if self._limit.is_reached(self._uid):
            there = dict(await self._memory.search(key, limit=1)) if key else {}
            if key not in there or _size(value) > _size(there[key]):
                self._limit.check(self._uid)
        await self._memory.write(key, value, source)


def _size(value: JsonValue) -> int:
    return len(canonical_json(value))
