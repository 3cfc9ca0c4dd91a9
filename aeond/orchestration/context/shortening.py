"""Leaving out the middle of long texts, visibly."""

from collections.abc import Sequence
from typing import Final

_HEAD_SHARE: Final = 0.7


def shorten(text: str, max_chars: int) -> str:
    """The text, or its beginning and end around a note of how much is left out; the note is extra."""
    if len(text) <= max_chars:
        return text
    head = int(max_chars * _HEAD_SHARE)
    tail = max_chars - head
    left_out = len(text) - head - tail
    ending = text[len(text) - tail :]
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{ending}"


def shorten_together(texts: Sequence[str], max_chars: int) -> tuple[str, ...]:
    """The texts, the longest of them shortened so that all together have at most `max_chars` and the notes."""
    shares = share([len(text) for text in texts], max_chars)
    return tuple(shorten(text, room) for text, room in zip(texts, shares, strict=True))


def share(lengths: Sequence[int], total: int) -> tuple[int, ...]:
    """Divides a total among texts: what short ones do not need goes to the long ones."""
    shares = [0] * len(lengths)
    left = total
    by_length = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for place, index in enumerate(by_length):
        shares[index] = min(lengths[index], left // (len(lengths) - place))
        left -= shares[index]
    return tuple(shares)
