"""Memory as clients see it."""

import pytest

from aeond.errors import InvalidInputError, NotFoundError, UnavailableError
from aeond.service.memory import MemoryKeys
from aeond.service.runs.admission import Admission
from tests.support.memory import InMemoryMemory


@pytest.fixture
def keys(admission: Admission) -> MemoryKeys:
    return MemoryKeys(InMemoryMemory(), admission)


@pytest.mark.parametrize("value", [None, 0, "", "text", [1, None], {"a": {"b": 1.5}}])
async def test_what_was_written_is_read(keys: MemoryKeys, value: str | list[int] | None) -> None:
    """Any JSON value comes back as it was, null included."""
    await keys.write("key", value)
    assert await keys.read("key") == value


async def test_a_missing_key_is_not_found(keys: MemoryKeys) -> None:
    """A key that only starts another one is not there."""
    await keys.write("bonus points", 1)
    with pytest.raises(NotFoundError) as raised:
        await keys.read("bonus")
    assert raised.value.reason == "KEY_NOT_FOUND"


async def test_keys_are_found_page_by_page(keys: MemoryKeys) -> None:
    """A search goes on after the last key of the page before."""
    for key in ("b/2", "a/1", "b/1", "b/3"):
        await keys.write(key, key)
    first = await keys.search("b/", after="", limit=2)
    second = await keys.search("b/", after=first[-1][0], limit=2)
    assert [key for key, _ in (*first, *second)] == ["b/1", "b/2", "b/3"]


async def test_deleting_tells_whether_there_was_something(keys: MemoryKeys) -> None:
    """A key is deleted once."""
    await keys.write("key", 1)
    assert await keys.delete("key")
    assert not await keys.delete("key")


async def test_a_key_that_can_be_none_is_refused(keys: MemoryKeys) -> None:
    """An empty key is an error, not an absence."""
    with pytest.raises(InvalidInputError) as raised:
        await keys.read("")
    assert raised.value.reason == "EMPTY_KEY"


async def test_a_daemon_that_stops_changes_nothing(keys: MemoryKeys, admission: Admission) -> None:
    """While the daemon drains, memory can be read and not written."""
    await keys.write("key", 1)
    admission.drain()
    assert await keys.read("key") == 1
    for change in (keys.write("key", 2), keys.delete("key")):
        with pytest.raises(UnavailableError):
            await change
    assert await keys.read("key") == 1
