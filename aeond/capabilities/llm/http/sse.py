"""Reading a stream of server-sent events within bounds."""

from collections.abc import AsyncIterator, Sequence

from aeond.errors import LLMError

MAX_EVENT_BYTES = 1 << 20
MAX_STREAM_BYTES = 64 << 20


async def data_of(stream: AsyncIterator[bytes]) -> AsyncIterator[Sequence[bytes]]:
    """The data of all events that come together; comments, empty lines and other fields are passed over.

    A line that begins with `error:` is data too: some servers report a failure so. Raises LLMError (reason
    BAD_STREAM) for a line over 1 MiB or more than 64 MiB in all.
    """
    rest = b""
    total = 0
    async for piece in stream:
        total += len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > MAX_EVENT_BYTES or total > MAX_STREAM_BYTES:
            raise LLMError("The engine sent more than it may in one answer.", reason="BAD_STREAM")
        fields = (line.strip(b"\r").partition(b":") for line in lines)
        if come := [data.strip() for name, _, data in fields if name in (b"data", b"error")]:
            yield come
