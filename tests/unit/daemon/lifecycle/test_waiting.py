"""What tasks wait for."""

import asyncio

import anyio

from aeond.daemon.lifecycle.waiting import waiting_tasks


async def outer(gate: anyio.Event) -> None:
    await inner(gate)


async def inner(gate: anyio.Event) -> None:
    await gate.wait()


async def test_each_task_is_listed_with_the_places_where_it_waits() -> None:
    """The line of a task begins with its name and leads from its first function to the one that waits."""
    gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outer, gate, name="the waiting one")
        await anyio.wait_all_tasks_blocked()
        lines = waiting_tasks(asyncio.all_tasks())
        gate.set()
    (line,) = [line for line in lines if line.startswith("the waiting one: ")]
    assert line.index("> outer test_waiting.py:") < line.index("> inner test_waiting.py:")
    assert "wait" in line.partition("> inner test_waiting.py:")[2]


async def test_a_task_that_has_ended_is_not_listed() -> None:
    """Only what may still happen is of interest."""
    seen: list[asyncio.Task[object] | None] = []

    async def look() -> None:
        seen.append(asyncio.current_task())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
    assert waiting_tasks(filter(None, seen)) == []
