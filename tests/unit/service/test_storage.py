"""The bound on what one user stores."""

import pytest

from aeond.domain.facts import FactSource
from aeond.errors import WrongStateError
from aeond.service.storage import BoundedMemories, StorageLimit
from tests.support.memory import InMemoryMemory
from tests.support.stored_bytes import CountedStorage

UID, OTHER, ADMIN = 1000, 1001, 0
MIB = 1 << 20


def limited(**bytes_of_user: int) -> tuple[StorageLimit, dict[str, CountedStorage]]:
    """A limit of 4 MiB over stores in which UID has so many bytes."""
    stores = {name: CountedStorage() for name in ("runs", "facts")}
    for name, size in bytes_of_user.items():
        stores[name].bytes[UID] = size
    return StorageLimit(stores, 4 * MIB, frozenset({ADMIN})), stores


def test_the_stores_count_together() -> None:
    """The limit is reached when the sizes in all stores together are as large, and the error says how large each is."""
    limit, stores = limited(runs=3 * MIB, facts=MIB - 1)
    limit.check(UID)
    stores["facts"].bytes[UID] += 1
    with pytest.raises(WrongStateError) as refused:
        limit.check(UID)
    assert refused.value.reason == "USER_STORAGE_FULL"
    assert "stores 4 MiB or more" in refused.value.message
    assert "(runs 3.0 MiB, facts 1.0 MiB): delete" in refused.value.message
    stores["runs"].bytes[UID] -= 1
    limit.check(UID)


def test_each_user_has_a_limit_of_their_own() -> None:
    """A user at the limit keeps no other one from storing, and administrators have none."""
    limit, stores = limited(runs=9 * MIB)
    limit.check(OTHER)
    stores["runs"].bytes[ADMIN] = 9 * MIB
    limit.check(ADMIN)


def test_a_limit_can_be_changed_and_removed() -> None:
    """A raised limit applies at once, and 0 is none."""
    limit, _ = limited(runs=9 * MIB)
    for size, reached in ((10 * MIB, False), (9 * MIB, True), (0, False)):
        limit.adopt(size)
        assert limit.is_reached(UID) is reached


async def test_facts_at_the_limit_can_only_become_smaller() -> None:
    """At the limit a new and a larger fact are refused, an equal or smaller one is written, and facts are read, found and
    deleted.
    """
    limit, stores = limited()
    memories = BoundedMemories(InMemoryMemory(), limit)
    memory = memories.of(UID)
    source = FactSource("run-1", ("host:a:1",))
    await memory.write("key", [1, 2], source)
    stores["facts"].bytes[UID] = 4 * MIB
    for key, value in (("new", 1), ("key", [1, 2, 3]), ("ke", 1)):
        with pytest.raises(WrongStateError) as refused:
            await memory.write(key, value)
        assert refused.value.reason == "USER_STORAGE_FULL"
    assert list(await memory.search("")) == [("key", [1, 2])]
    assert await memory.sources(["key"]) == {"key": source}
    await memory.write("key", [3, 4], source)
    await memory.write("key", 5, source)
    assert await memory.read("key") == 5
    assert [fact.key for fact in await memory.recall("key")] == ["key"]
    assert (await memory.find("KEY")) is not None
    assert await memories.of(OTHER).read("key") is None
    assert await memory.delete("key")
    stores["facts"].bytes[UID] = 0
    await memory.write("new", 1)
