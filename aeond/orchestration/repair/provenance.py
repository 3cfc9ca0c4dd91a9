"""Whether a repair only changed form: every value it holds must stand in what it was made from."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from aeond.domain.values import JsonValue, display_json

_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?(?![\w])")
_ESCAPE: Final = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MAX_NUMBER_CHARS: Final = 40


class Material:
    """What a repair may draw on: the texts it was given."""

    def __init__(self, *texts: str) -> None:
        whole = "\n".join(texts)
        self._forms = (_even(whole), _even(_unescaped(whole)))
        self._numbers = {float(found) for found in _NUMBER.findall(whole) if len(found) <= _MAX_NUMBER_CHARS}
        self._words = Counter(re.findall(r"\w+", whole.lower()))
        self._has_empty = '""' in whole or "''" in whole

    def invented(self, value: JsonValue) -> tuple[str, ...]:
        """The values (not the keys) within a value that the material does not hold, as text."""
        return tuple(f"{leaf!r:.80}" for leaf in values_in(value) if not self._holds(leaf))

    def holds_each(self, names: Collection[str]) -> bool:
        """Whether each name stands in the material at least as often as it is used."""
        return all(self._words[name.lower()] >= uses for name, uses in Counter(names).items())

    def _holds(self, leaf: str | float | bool | None) -> bool:
        if isinstance(leaf, bool) or leaf is None:
            return any(self._words[word] for word in (display_json(leaf), str(leaf).lower()))
        if isinstance(leaf, int | float):
            return _as_float(leaf) in self._numbers
        text = _even(leaf)
        if not text:  # blanks mean nothing, so they invent nothing
            return bool(leaf) or self._has_empty
        return any(_stands_in(text, form) for form in self._forms)


def values_in(value: JsonValue) -> Iterator[str | float | bool | None]:
    """The texts, numbers, truths and nulls within a value; no keys."""
    waiting: list[JsonValue] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, Mapping):
            waiting.extend(current.values())
        elif isinstance(current, Sequence):
            waiting.extend(current)
        else:
            yield current


def _stands_in(text: str, form: str) -> bool:
    """Whether the text stands there by itself, not as a part of a longer word."""
    position = form.find(text)
    while position >= 0:
        before = form[position - 1 : position]
        after = form[position + len(text) : position + len(text) + 1]
        if not (_joins(before) and _joins(text[0])) and not (_joins(after) and _joins(text[-1])):
            return True
        position = form.find(text, position + 1)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def _even(text: str) -> str:
    return " ".join(text.split())


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if code[0] == "u" else _ESCAPES.get(code, code)

    return _ESCAPE.sub(plain, text)


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")
