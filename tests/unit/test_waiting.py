"""Waiting for the first of several things."""

import anyio

from aeond.waiting import first_of


async def test_the_first_of_several_waits_ends_all_of_them() -> None:
    """The call returns with the first of its waits, and none of the others goes on."""
    ended: list[str] = []
    event = anyio.Event()

    async def forever() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("forever")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first_of, event.wait, forever)
        await anyio.wait_all_tasks_blocked()
        assert not ended
        event.set()
    assert ended == ["forever"]
