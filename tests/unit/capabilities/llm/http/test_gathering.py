"""What comes while an answer is written is given together."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from aeond.capabilities.llm.http.gathering import (
    GATHER_SECONDS,
    MAX_HELD_BYTES,
    GatheringReader,
    opened,
)
from tests.support.virtual_time import in_virtual_time

Given = list[tuple[float, bytes]]
UNTIL = b"[DONE]"


def given(
    sent: Sequence[tuple[float, bytes]], *, gathers: bool = True, broken: OSError | None = None
) -> Given:
    """Each read with its time, of data that arrives at these times before the connection ends at 9, or is `broken`."""
    read: Given = []

    async def scene() -> None:
        loop, reader = asyncio.get_running_loop(), GatheringReader()
        if gathers:
            reader.gather(UNTIL)
        for when, data in sent:
            loop.call_at(when, reader.feed_data, data)
        # As asyncio does it: a connection that breaks has no end of file.
        loop.call_at(9, asyncio.StreamReaderProtocol(reader).connection_lost, broken)
        with pytest.raises(OSError, match="reset") if broken else nullcontext():
            while data := await reader.read(1 << 20):
                read.append((round(loop.time(), 3), data))

    in_virtual_time(scene)
    return read


def test_everything_is_given_at_once_before_it_gathers() -> None:
    """Heads, short answers and the first words do not wait."""
    sent = [(1.0, b"head"), (1.001, b"first")]
    assert given(sent, gathers=False) == sent


def test_what_comes_within_the_time_is_given_together_at_its_end() -> None:
    """The first data is given at once, and then what has come at the end of each time."""
    sent = [(1.0, b"a"), (1.03, b"b"), (1.06, b"c"), (1.12, b"d"), (1.15, b"e")]
    assert given(sent) == [
        (1.0, b"a"),
        (1 + GATHER_SECONDS, b"bc"),
        (1 + 2 * GATHER_SECONDS, b"de"),
    ]


def test_what_comes_after_a_pause_is_given_at_once() -> None:
    """An engine that writes slowly is not slowed down: the time counts from what was given last."""
    sent = [(1.0, b"a"), (1.5, b"b"), (2.0, b"c")]
    assert given(sent) == sent


@pytest.mark.parametrize("cut", range(1, len(UNTIL)))
def test_the_end_of_an_answer_is_given_at_once(cut: int) -> None:
    """What ends the answer brings what was gathered before it, also if it arrives in two parts and the first of them was
    given already; what follows is not gathered."""
    first, second = UNTIL[:cut], UNTIL[cut:]
    assert given([(1.0, b"a"), (1.01, b"b" + first), (1.02, second), (1.03, b"."), (1.04, b".")]) == [
        (1.0, b"a"),
        (1.02, b"b" + UNTIL),
        (1.03, b"."),
        (1.04, b"."),
    ]
    assert given([(1.0, b"a" + first), (1.02, second), (1.03, b".")]) == [
        (1.0, b"a" + first),
        (1.02, second),
        (1.03, b"."),
    ]


def test_the_end_of_a_connection_is_given_at_once() -> None:
    """Data that was gathered before the connection ended is not lost."""
    assert given([(1.0, b"a"), (8.95, b"b"), (8.96, b"c"), (8.97, b"d")]) == [
        (1.0, b"a"),
        (8.95, b"b"),
        (9.0, b"cd"),
    ]


def test_what_was_gathered_is_given_before_a_connection_breaks() -> None:
    """A reset is reported after the data that came before it."""
    sent = [(1.0, b"a"), (8.95, b"b"), (8.96, b"c"), (8.97, b"d")]
    assert given(sent, broken=ConnectionResetError("reset")) == [(1.0, b"a"), (8.95, b"b"), (9.0, b"cd")]


def test_little_is_held() -> None:
    """Data in large amounts is passed on as it comes, and the reader limits it as always."""
    much = bytes(MAX_HELD_BYTES + 1)
    assert given([(1.0, b"a"), (1.01, much)]) == [(1.0, b"a"), (1.01, much)]


async def test_a_connection_has_both_ends(tmp_path: Path) -> None:
    """An opened connection carries data in both directions."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    async with await asyncio.start_unix_server(echo, tmp_path / "echo"):
        loop = asyncio.get_running_loop()
        reader, writer = await opened(loop.create_unix_connection, str(tmp_path / "echo"))
        writer.write(b"hello\n")
        await writer.drain()
        assert await reader.read() == b"hello\n"
        writer.close()
