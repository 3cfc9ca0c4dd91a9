"""Bounds on time and length that every adapter shares."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from aeond.capabilities.llm.adapters.requests import check_length, within
from aeond.concurrency import closing
from aeond.errors import InvalidInputError, LLMError


class Pieces:
    """Gives numbers; `ended` tells that it was closed, `hold_at` is where it stops giving."""

    def __init__(self, hold_at: int = 100) -> None:
        self.ended = anyio.Event()
        self._hold_at = hold_at

    async def give(self) -> AsyncGenerator[int, None]:
        try:
            for number in range(self._hold_at):
                yield number
            await anyio.sleep_forever()
        finally:
            self.ended.set()


async def test_a_wait_that_is_too_long_ends_with_the_deadline() -> None:
    """Pieces that stop coming end in an error at the deadline, and their source is closed."""
    pieces = Pieces(hold_at=2)
    got: list[int] = []
    with pytest.raises(LLMError) as failed:
        got.extend([piece async for piece in within(0.05, pieces.give())])
    assert failed.value.reason == "DEADLINE_EXCEEDED"
    assert pieces.ended.is_set()


async def test_a_deadline_that_has_passed_lets_nothing_more_through() -> None:
    """The deadline is that of the whole call: a reader who comes too late gets the error."""
    pieces = Pieces(hold_at=1)
    stream = within(0.01, pieces.give())
    assert await anext(stream) == 0
    with pytest.raises(LLMError):
        await anext(stream)
    assert pieces.ended.is_set()


async def test_leaving_closes_the_source_at_once() -> None:
    """Leaving a stream in the middle closes its source before the caller goes on."""
    pieces = Pieces()
    async with closing(within(60, pieces.give())) as stream:
        assert await anext(stream) == 0
    assert pieces.ended.is_set()


@pytest.mark.parametrize(("prompt", "answer", "fits"), [(60, 40, True), (60, 41, False), (101, 1, False)])
def test_lengths_are_exact(prompt: int, answer: int, fits: bool) -> None:
    """Prompt and answer together may fill the context to the last token, and no further."""
    if fits:
        check_length(prompt, answer, 100)
        return
    with pytest.raises(InvalidInputError, match=f"by {prompt + answer - 100}"):
        check_length(prompt, answer, 100)
