"""The memory tools."""

from typing import Any

import pytest

from aeond.capabilities.tools.builtin.memory_tools import MAX_ENTRIES, MAX_ENTRIES_BYTES, memory_tools
from aeond.domain.tools import Recovery, ToolCall, ToolResult
from tests.support.memory import InMemoryMemory
from tests.support.tools import CONTEXT, invoker_of


@pytest.fixture
def memory() -> InMemoryMemory:
    return InMemoryMemory()


async def use(memory: InMemoryMemory, tool: str, **arguments: Any) -> ToolResult:
    return await invoker_of(*memory_tools(memory)).invoke(ToolCall(tool, arguments, "call1"), CONTEXT)


@pytest.mark.parametrize("value", ["Paris", "", 420, -1.5, True, False, 0])
async def test_what_is_written_is_read(memory: InMemoryMemory, value: object) -> None:
    """A text, number or truth value comes back as it was remembered, type and all."""
    assert (await use(memory, "memory_write", key="fact", value=value)).data == {
        "key": "fact",
        "value": value,
    }
    result = await use(memory, "memory_read", key="fact")
    assert result.data == {"key": "fact", "found": True, "value": value}
    assert isinstance(result.data, dict)
    assert type(result.data["value"]) is type(value)


async def test_what_was_never_written_is_not_found(memory: InMemoryMemory) -> None:
    """Reading an unknown name is no failure but says that nothing was found."""
    result = await use(memory, "memory_read", key="fact")
    assert (result.success, result.data) == (True, {"key": "fact", "found": False, "value": None})


async def test_a_null_is_found(memory: InMemoryMemory) -> None:
    """A null that a client remembered is told from a name that nobody wrote."""
    await memory.write("fact", None)
    await memory.write("fact_of_another_name", "green")
    result = await use(memory, "memory_read", key="fact")
    assert result.data == {"key": "fact", "found": True, "value": None}


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, "x" * 5_000])
async def test_other_values_are_refused(memory: InMemoryMemory, value: object) -> None:
    """Lists, objects, null and long texts cannot be written by this tool."""
    assert (await use(memory, "memory_write", key="fact", value=value)).reason == "ARGUMENTS_INVALID"


@pytest.mark.parametrize("key", ["", "x" * 300])
async def test_bad_names_are_refused(memory: InMemoryMemory, key: str) -> None:
    """An empty or very long name is refused by every tool that takes one."""
    assert (await use(memory, "memory_write", key=key, value=1)).reason == "ARGUMENTS_INVALID"
    assert (await use(memory, "memory_read", key=key)).reason == "ARGUMENTS_INVALID"


async def test_search_lists_by_prefix(memory: InMemoryMemory) -> None:
    """Searching gives the facts whose names begin with the prefix, in order, and everything without one."""
    for key, value in {"b1": 1, "a2": 2, "a1": 3, "A1": 4}.items():
        await memory.write(key, value)
    result = await use(memory, "memory_search", prefix="a")
    assert result.data == {
        "entries": [{"key": "a1", "value": 3}, {"key": "a2", "value": 2}],
        "truncated": False,
    }
    for everything in ({}, {"prefix": ""}):
        result = await use(memory, "memory_search", **everything)
        assert isinstance(result.data, dict)
        assert [entry["key"] for entry in result.data["entries"]] == ["A1", "a1", "a2", "b1"]


async def test_search_gives_whatever_was_stored(memory: InMemoryMemory) -> None:
    """Values that programs stored, of any shape, are listed and read as they are."""
    value = {"list": [1, None, {"deep": True}]}
    await memory.write("shape", value)
    assert (await use(memory, "memory_search")).data == {
        "entries": [{"key": "shape", "value": value}],
        "truncated": False,
    }
    assert (await use(memory, "memory_read", key="shape")).data == {
        "key": "shape",
        "found": True,
        "value": value,
    }


async def test_search_is_bounded_in_number(memory: InMemoryMemory) -> None:
    """More facts than fit are cut, and the result says so."""
    for number in range(MAX_ENTRIES + 1):
        await memory.write(f"key{number:03}", number)
    result = await use(memory, "memory_search")
    assert isinstance(result.data, dict)
    assert len(result.data["entries"]) == MAX_ENTRIES
    assert result.data["truncated"] is True
    await memory.delete("key000")
    result = await use(memory, "memory_search")
    assert isinstance(result.data, dict)
    assert result.data["truncated"] is False


async def test_search_is_bounded_in_size(memory: InMemoryMemory) -> None:
    """Large facts are listed until there is no more room, and the result says so."""
    for number in range(5):
        await memory.write(f"key{number}", "x" * (MAX_ENTRIES_BYTES // 3))
    result = await use(memory, "memory_search")
    assert isinstance(result.data, dict)
    assert len(result.data["entries"]) == 2
    assert result.data["truncated"] is True


async def test_write_can_be_reconciled(memory: InMemoryMemory) -> None:
    """After a crash a write that did its work is recognised, and one that did not is not."""
    tools = memory_tools(memory)
    invoker = invoker_of(*tools)
    call = ToolCall("memory_write", {"key": "fact", "value": 1}, "call1")
    assert tools[0].spec.recovery is Recovery.RECONCILE
    assert await invoker.reconcile(call, CONTEXT) is None
    written = await invoker.invoke(call, CONTEXT)
    recalled = await invoker.reconcile(call, CONTEXT)
    assert recalled is not None
    assert recalled.data == written.data
    await memory.write("fact", True)  # equal to 1 in Python, and yet another value
    assert await invoker.reconcile(call, CONTEXT) is None
