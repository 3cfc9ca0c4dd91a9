"""Cuts lists that a small model does not end: after what it was asked for, it goes on with items that say nothing new."""

import json
from collections.abc import Iterator
from typing import Final

from aeond.domain.values import JsonValue, compact_json
from aeond.orchestration.repair.strict_json import nesting_exceeds

MAX_DEPTH: Final = 32
_BETWEEN: Final = " \t\r\n,"


def news_of_list(text: str) -> str:
    """The JSON list that the text is, or begins, up to its first item that repeats another one, or puts a thing in its own place: all
    members have one value. A text without such an item stays as it is."""
    if not text.startswith("[") or nesting_exceeds(text, MAX_DEPTH):
        return text
    kept: list[JsonValue] = []
    for item in _items(text):
        if kept and (item in kept or _changes_nothing(item)):
            return compact_json(kept)
        kept.append(item)
    return text


def _items(text: str) -> Iterator[JsonValue]:
    decoder, at = json.JSONDecoder(), 1
    while True:
        while at < len(text) and text[at] in _BETWEEN:
            at += 1
        try:
            item, at = decoder.raw_decode(text, at)
        except ValueError:  # the end of the list, or of what was written
            return
        yield item


def _changes_nothing(item: JsonValue) -> bool:
    return (
        isinstance(item, dict)
        and len(item) > 1
        and len({compact_json(value) for value in item.values()}) == 1
    )
