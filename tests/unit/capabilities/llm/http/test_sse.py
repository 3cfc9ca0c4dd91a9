"""Events come out whole, however the bytes were cut on their way."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.capabilities.llm.http.sse import MAX_EVENT_BYTES, data_of
from aeond.errors import LLMError

STREAM = b': hello\r\n\r\nevent: x\r\ndata: {"a": 1}\r\n\r\nid: 7\ndata: two: parts\n\nerror: {}\n\ndata: [DONE]\n\n'
DATA = [b'{"a": 1}', b"two: parts", b"{}", b"[DONE]"]


async def cut(stream: bytes, sizes: list[int]) -> AsyncIterator[bytes]:
    for size in sizes:
        yield stream[:size]
        stream = stream[size:]
    yield stream


@given(st.lists(st.integers(0, 40), max_size=20))
async def test_cuts_make_no_difference(sizes: list[int]) -> None:
    """The same events are read wherever the network cuts the stream."""
    assert [data async for come in data_of(cut(STREAM, sizes)) for data in come] == DATA


async def test_events_that_come_together_are_given_together() -> None:
    """What was read at once is one list; nothing is given for bytes without a whole event."""
    pieces = [b"data: a\n\ndata: b\n\n: hello\n", b"data:", b" c\n\n"]

    async def come() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    assert [datas async for datas in data_of(come())] == [[b"a", b"b"], [b"c"]]


async def test_an_endless_line_is_refused() -> None:
    """A line over the limit is refused while it comes, not after it filled the memory."""
    given_out = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given_out
        while True:
            given_out += 1
            yield b"x" * (1 << 16)

    with pytest.raises(LLMError, match="more than it may"):
        _ = [data async for data in data_of(endless())]
    assert given_out * (1 << 16) <= MAX_EVENT_BYTES + (1 << 17)
