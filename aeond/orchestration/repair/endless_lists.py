"""Cuts lists that a small model does not end: after what it was asked for, it goes on with items that say nothing new."""

import json
from collections.abc import Iterator
from typing import Final

from aeond.domain.values import JsonValue, compact_json
from aeond.orchestration.repair.strict_json import nesting_exceeds

MAX_DEPTH: Final = 32
_BETWEEN: Final = " \t\r\n,"
_IDLE: Final = 2


def news_of_list(text: str) -> str:
    """The JSON list that the text begins, up to the first two items in a row that repeat others, or put a thing in its own place: all members
    have one value. "" for a text without them, which may have an end of its own."""
    if not text.startswith("[") or nesting_exceeds(text, MAX_DEPTH):
        return ""
    news: list[JsonValue] = []
    end = idle = 0
    for item, behind in _items(text):
        if item in news or _changes_nothing(item):
            idle += 1
            if idle == _IDLE and news:
                return f"{text[:end]}]"
        else:
            news.append(item)
            end, idle = behind, 0
    return ""


def _items(text: str) -> Iterator[tuple[JsonValue, int]]:
    """The whole items, each with the place behind it."""
    decoder, at = json.JSONDecoder(), 1
    while True:
        while at < len(text) and text[at] in _BETWEEN:
            at += 1
        try:
            item, at = decoder.raw_decode(text, at)
        except ValueError:  # the end of the list, or of what was written
            return
        yield item, at


def _changes_nothing(item: JsonValue) -> bool:
    return (
        isinstance(item, dict)
        and len(item) > 1
        and len({compact_json(value) for value in item.values()}) == 1
    )
