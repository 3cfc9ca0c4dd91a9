from collections.abc import AsyncIterator

import anyio
import pytest

from aeond.errors import OverloadedError, UnavailableError
from aeond.server.streaming import Part, StreamCutError, Streams


class Source:
    """Parts one by one, then waiting for ever unless it has an end; remembers that it was closed."""

    def __init__(self, *parts: Part, ends: bool = False) -> None:
        self.given = parts
        self.ends = ends
        self.closed = False

    async def parts(self) -> AsyncIterator[Part]:
        try:
            for part in self.given:
                yield part
            if not self.ends:
                await anyio.sleep_forever()
        finally:
            self.closed = True


async def test_parts_are_written_in_order_until_the_end() -> None:
    """A stream that ends by itself ends well, with its source closed."""
    written: list[bytes] = []

    async def write(message: bytes) -> None:
        written.append(message)

    streams, source = Streams(), Source(Part(b"a", 1), Part(b"b", 2), ends=True)
    await streams.carry(source.parts(), write)
    assert written == [b"a", b"b"]
    assert source.closed
    assert streams.count == 0


async def test_a_client_that_stops_reading_is_cut() -> None:
    """When one write takes too long, the stream ends with the last seq written, and its source is closed."""

    async def write(message: bytes) -> None:
        if message == b"c":
            await anyio.sleep_forever()

    streams, source = Streams(stall_seconds=0.02), Source(Part(b"a", 4), Part(b"b"), Part(b"c", 5))
    with anyio.fail_after(60), pytest.raises(StreamCutError) as raised:
        await streams.carry(source.parts(), write)
    assert isinstance(raised.value.error, OverloadedError)
    assert raised.value.error.reason == "STREAM_STALLED"
    assert raised.value.last_seq == 4
    assert source.closed


async def test_a_quiet_source_is_no_stall() -> None:
    """However long nothing happens, a client that reads keeps its stream."""
    stall_seconds = 0.05

    async def slow_parts() -> AsyncIterator[Part]:
        for number in range(3):
            quiet_until = anyio.current_time() + 3 * stall_seconds
            while anyio.current_time() < quiet_until:  # the loop turns, and the limit could strike
                await anyio.lowlevel.checkpoint()
            yield Part(b"", number)

    async def write(_message: bytes) -> None:
        return

    await Streams(stall_seconds).carry(slow_parts(), write)


async def test_draining_cuts_open_streams_and_new_ones() -> None:
    """At drain every stream ends with DRAINING and where to go on; one that comes later ends at once."""
    streams = Streams()
    cuts: list[StreamCutError] = []
    written = anyio.Event()

    async def write(_message: bytes) -> None:
        written.set()

    async def watch(source: Source) -> None:
        with pytest.raises(StreamCutError) as raised:
            await streams.carry(source.parts(), write)
        cuts.append(raised.value)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, Source(Part(b"a", 7)))
            await written.wait()
            assert streams.count == 1
            streams.drain()
            await streams.wait_closed()
        await watch(Source(Part(b"a", 9)))
    assert [cut.last_seq for cut in cuts] == [7, -1]
    assert all(isinstance(cut.error, UnavailableError) and cut.error.reason == "DRAINING" for cut in cuts)


async def test_a_source_that_becomes_unavailable_tells_where_to_go_on() -> None:
    """When the source itself says that it is over for now, the cursor goes with it."""

    async def parts() -> AsyncIterator[Part]:
        yield Part(b"a", 3)
        raise UnavailableError("Stopping.", reason="DRAINING")

    async def write(_message: bytes) -> None:
        return

    with pytest.raises(StreamCutError) as raised:
        await Streams().carry(parts(), write)
    assert (raised.value.error.reason, raised.value.last_seq) == ("DRAINING", 3)


async def test_cancelling_from_outside_is_not_swallowed() -> None:
    """A client that cancels ends the stream as cancelled, not as cut."""
    source = Source(Part(b"a"))
    started = anyio.Event()

    async def write(_message: bytes) -> None:
        started.set()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Streams().carry, source.parts(), write)
            await started.wait()
            tasks.cancel_scope.cancel()
    assert source.closed
