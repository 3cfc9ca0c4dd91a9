"""Port of the memory: facts under keys, found again by other words."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from aeond.domain.facts import BY_CLIENT, Fact, FactSource
from aeond.domain.values import JsonValue


class Memory(Protocol):
    """Key/value store with search. Keys are non-empty strings, values JSON; each operation is atomic.

    Raises InvalidInputError (reason EMPTY_KEY, KEY_TOO_LONG, VALUE_NOT_JSON, VALUE_TOO_LARGE) and StoreError.
    """

    async def write(self, key: str, value: JsonValue, source: FactSource = BY_CLIENT) -> None:
        """Stores the value under exactly this key, with its source instead of an earlier one."""

    async def sources(self, keys: Sequence[str]) -> Mapping[str, FactSource]:
        """The sources of the facts that a run wrote, by key, at most 1,000."""

    async def read(self, key: str) -> JsonValue | None:
        """The value; None if the key does not exist."""

    async def search(
        self, prefix: str, limit: int = 100, after: str = "", most_chars: int | None = None
    ) -> Sequence[tuple[str, JsonValue]]:
        """Keys that start with `prefix` (case-sensitive; "" is all) and come after `after`, sorted by code
        point, with their values; of a value whose JSON is longer than `most_chars` its beginning."""

    async def delete(self, key: str) -> bool:
        """Deletes the key and returns whether it existed."""

    async def find(self, key: str) -> Fact | None:
        """The fact under this key, else the first fact whose key differs only in case, accents, spacing,
        punctuation and a possessive 's."""

    async def recall(self, query: str, limit: int = 10, most_chars: int | None = None) -> Sequence[Fact]:
        """The facts most relevant to a query, by words and by meaning, best first: all facts if there are at
        most `limit`, else only facts with a score above 0. Bounded like `search`, and values cut like there."""


class Memories(Protocol):
    """The memories of all users."""

    def of(self, uid: int) -> Memory:
        """The memory of this user: a key is never the same as the same key of another user."""
