"""Memory as clients see it."""

import pytest

from aeond.errors import InvalidInputError, NotFoundError, UnavailableError
from aeond.service.memory import MemoryKeys
from aeond.service.runs.admission import Admission
from tests.support.memory import InMemoryMemory

UID = 1000


@pytest.fixture
def keys(admission: Admission) -> MemoryKeys:
    return MemoryKeys(InMemoryMemory(), admission)


@pytest.mark.parametrize("value", [None, 0, "", "text", [1, None], {"a": {"b": 1.5}}])
async def test_a_written_value_is_read_back(keys: MemoryKeys, value: str | list[int] | None) -> None:
    """Any JSON value comes back as it was, null included."""
    await keys.write(UID, "key", value)
    assert await keys.read(UID, "key") == value


async def test_a_missing_key_is_not_found(keys: MemoryKeys) -> None:
    """A key that only starts another one is not there."""
    await keys.write(UID, "bonus points", 1)
    with pytest.raises(NotFoundError) as raised:
        await keys.read(UID, "bonus")
    assert raised.value.reason == "KEY_NOT_FOUND"


async def test_keys_are_found_page_by_page(keys: MemoryKeys) -> None:
    """A search goes on after the last key of the page before."""
    for key in ("b/2", "a/1", "b/1", "b/3"):
        await keys.write(UID, key, key)
    first = await keys.search(UID, "b/", after="", limit=2)
    second = await keys.search(UID, "b/", after=first[-1][0], limit=2)
    assert [key for key, _ in (*first, *second)] == ["b/1", "b/2", "b/3"]


async def test_deleting_tells_whether_there_was_something(keys: MemoryKeys) -> None:
    """A key is deleted once."""
    await keys.write(UID, "key", 1)
    assert await keys.delete(UID, "key")
    assert not await keys.delete(UID, "key")


async def test_a_key_that_can_be_none_is_refused(keys: MemoryKeys) -> None:
    """An empty key is an error, not an absence."""
    with pytest.raises(InvalidInputError) as raised:
        await keys.read(UID, "")
    assert raised.value.reason == "EMPTY_KEY"


async def test_a_daemon_that_stops_changes_nothing(keys: MemoryKeys, admission: Admission) -> None:
    """While the daemon drains, memory can be read and not written."""
    await keys.write(UID, "key", 1)
    admission.drain()
    assert await keys.read(UID, "key") == 1
    for change in (keys.write(UID, "key", 2), keys.delete(UID, "key")):
        with pytest.raises(UnavailableError):
            await change
    assert await keys.read(UID, "key") == 1


async def test_a_key_belongs_to_its_user(keys: MemoryKeys) -> None:
    """Another user neither reads, finds, overwrites nor deletes a key, and is answered as if it did not exist."""
    await keys.write(UID, "colour", "green")
    for other in (UID + 1, 0):
        with pytest.raises(NotFoundError) as raised:
            await keys.read(other, "colour")
        with pytest.raises(NotFoundError) as missing:
            await keys.read(UID, "colour".swapcase())
        assert raised.value.message == missing.value.message.replace("COLOUR", "colour")
        assert await keys.search(other, "", after="", limit=9) == []
        assert not await keys.delete(other, "colour")
        await keys.write(other, "colour", "red")
    assert await keys.read(UID, "colour") == "green"
