"""Terminals that clients lend to their runs."""

import anyio
import pytest

from aeond.capabilities.tools.served import terminals
from aeond.capabilities.tools.served.terminals import RunTerminals
from aeond.errors import AlreadyExistsError, OverloadedError, ToolError
from aeond.ports.serving import TerminalKind, TerminalSize

KIND = TerminalKind("xterm", TerminalSize(10, 20))


async def test_keys_go_in_and_screens_come_out() -> None:
    """Input is read in order after the size, output arrives, and the end of the call ends the terminal."""
    all_of_them = RunTerminals()
    client = all_of_them.attach(1, "run", KIND)
    client.type(b"a")
    client.type(b"b")
    client.resize(TerminalSize(5, 6))
    async with all_of_them.of(1, "run") as tool:
        assert tool.kind == KIND
        assert await tool.read() == TerminalSize(5, 6)
        assert await tool.read() == b"ab"
        await tool.show(b"x")
        await tool.show(b"y")
        assert await client.next() == b"xy"
        await tool.show(b"last")
    assert await client.next() == b"last"
    assert await client.next() is None


async def test_a_call_waits_for_its_own_client() -> None:
    """A terminal of another user or for another run is not found; one that comes within the time is."""
    all_of_them = RunTerminals(wait_seconds=0.05)
    all_of_them.attach(2, "run", KIND)
    all_of_them.attach(1, "other", KIND)
    with pytest.raises(ToolError) as caught:
        async with all_of_them.of(1, "run"):
            pass
    assert caught.value.reason == "TERMINAL_MISSING"
    patient = RunTerminals(wait_seconds=30.0)
    async with anyio.create_task_group() as tasks:

        async def use() -> None:
            async with patient.of(1, "run") as tool:
                assert await tool.read() == b"k"

        tasks.start_soon(use)
        await anyio.lowlevel.checkpoint()
        patient.attach(1, "run", KIND).type(b"k")


async def test_a_hang_up_ends_both_ends() -> None:
    """After the client has left, reading returns None, showing returns, and the run can have another terminal."""
    all_of_them = RunTerminals()
    client = all_of_them.attach(1, "run", KIND)
    async with all_of_them.of(1, "run") as tool:
        client.hang_up()
        client.hang_up()
        assert await tool.read() is None
        await tool.show(b"x" * terminals.MAX_SHOWN_BYTES)
        await tool.show(b"x")
        assert await client.next() is None
        second = all_of_them.attach(1, "run", KIND)
    second.type(b"k")
    async with all_of_them.of(1, "run") as tool:
        assert await tool.read() == b"k"


async def test_everything_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that are not read, screens that are not read, and terminals of one user have limits."""
    monkeypatch.setattr(terminals, "MAX_TYPED_BYTES", 3)
    monkeypatch.setattr(terminals, "MAX_SHOWN_BYTES", 3)
    all_of_them = RunTerminals()
    client = all_of_them.attach(1, "run", KIND)
    with pytest.raises(AlreadyExistsError, match="already"):
        all_of_them.attach(1, "run", KIND)
    client.type(b"abc")
    with pytest.raises(OverloadedError) as caught:
        client.type(b"d")
    assert caught.value.reason == "TERMINAL_FULL"
    async with all_of_them.of(1, "run") as tool, anyio.create_task_group() as tasks:
        await tool.show(b"abc")
        with anyio.move_on_after(0.01) as waited:
            await tool.show(b"d")
        assert waited.cancelled_caught
        tasks.start_soon(tool.show, b"e")
        assert await client.next() == b"abc"
        assert await client.next() == b"e"
    for number in range(terminals.MAX_TERMINALS):
        all_of_them.attach(1, str(number), KIND)
    with pytest.raises(OverloadedError) as caught:
        all_of_them.attach(1, "more", KIND)
    assert caught.value.reason == "TOO_MANY_STREAMS"
    all_of_them.attach(2, "more", KIND)
