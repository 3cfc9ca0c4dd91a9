"""Items of lists and members of objects in the text of a JSON document: where new ones stand, and the commas between them.

Everything else stays as it is, so that a list on one line stays on it, and one on many lines keeps its indentation.
"""

import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.editing.list_items import item_text
from aeond.frozen import frozen

MAX_CHARS: Final = 512 << 10  # which are taken apart in a fifth of a second
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"\ufeff]+')
_SPACED: Final = re.compile(r'[,:] ["\d\[{tfn-]')
_NOT_IN_WORDS: Final = frozenset('"\\{}[]:\r\n')  # of an item without quotation marks
_AROUND: Final = " \t\r\n,"  # an item on its line
_BRACES: Final = {"[": "]", "{": "}"}


@frozen
class Container:
    """A list or object by the bracket that opens it, and where it and its items or members stand in the text."""

    bracket: str
    start: int
    end: int
    items: tuple[tuple[int, int], ...]

    def holds(self, start: int, end: int) -> bool:
        return self.start < start and end < self.end


@frozen
class NewItems:
    """Text that is to stand at a place within a document: `what` is the items themselves, `text` has the comma too."""

    place: int
    text: str
    what: str


def is_json(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() == ".json"


def containers(text: str) -> Sequence[Container]:
    """The lists and objects of a document, inner ones before those around them; none of one that is longer than MAX_CHARS."""
    found: list[Container] = []
    opened: list[tuple[str, int, list[tuple[int, int]]]] = []
    begun: list[int] = []  # where the item begins that is being read in each open container
    behind = 0
    for token in _TOKEN.finditer(text) if len(text) <= MAX_CHARS else ():
        sign = token[0]
        if sign in ",]}":
            if not opened:
                return ()
            bracket, start, items = opened[-1]
            if begun[-1] >= 0:
                items.append((begun[-1], behind))
                begun[-1] = -1
            if sign != ",":
                found.append(Container(bracket, start, token.end(), tuple(items)))
                opened.pop()
                begun.pop()
        else:
            if opened and begun[-1] < 0:
                begun[-1] = token.start()
            if sign in _BRACES:
                opened.append((sign, token.start(), []))
                begun.append(-1)
        behind = token.end()
    return found


def new_items(text: str, addition: str, named: tuple[int, int], lines: tuple[int, int]) -> NewItems | None:
    """Items of a list or members of an object that are added below a place, within these lines, of a valid document; None where they are neither, or fit
    nowhere. They stand in the list or object that goes on behind the lines, or around a place that is only a part of them; else at the end of the only list or
    object on the lines. Words on one line are an item of a list of texts that is named, or a part of it, without the bullet that small models copy from elsewhere."""
    what = addition.strip().strip(",").strip()
    bracket = next((one for one in _BRACES if what and _reads(f"{one}{what}{_BRACES[one]}")), None)
    if bracket is not None:
        place = _place_of(text, bracket, named, lines)
        return _in(*place, text, what) if place else None
    place = None if named == (0, len(text)) else _place_of(text, "[", named, lines)
    words = item_text(what)
    if place is None or not words or not _NOT_IN_WORDS.isdisjoint(words):
        return None
    of_texts = bool(place[0].items) and all(text[start] == '"' for start, _ in place[0].items)
    is_meant = named[0] < place[0].end and not text[named[1] : place[0].start].strip('": ')
    return _in(*place, text, json.dumps(words, ensure_ascii=False)) if of_texts and is_meant else None


def _place_of(
    text: str, bracket: str, named: tuple[int, int], lines: tuple[int, int]
) -> tuple[Container, int] | None:
    """The list or object to add to, and the place in it behind which to add."""
    found = containers(text)
    first, last = lines
    is_part = text[first:last].strip(_AROUND) != text[slice(*named)].strip(_AROUND)
    start, end = named if is_part else (last - 1, last)
    around = next((one for one in found if one.holds(start, end)), None)
    if around is not None and around.bracket == bracket:
        return around, end
    inside = [one for one in found if one.bracket == bracket and first <= one.start and one.end <= last]
    outer = [one for one in inside if not any(other.holds(one.start, one.end) for other in inside)]
    return (outer[0], outer[0].end) if len(outer) == 1 else None


def _in(container: Container, at: int, text: str, what: str) -> NewItems:
    """These items behind the last one that begins before the place."""
    items = container.items
    before = sum(start < at for start, _ in items)
    if not items:
        return NewItems(container.start + 1, what, what)
    if len(items) > 1:
        left = min(max(before - 1, 0), len(items) - 2)
        gap = text[items[left][1] : items[left + 1][0]]
    else:
        space = text[container.start + 1 : items[0][0]]
        gap = "," + (space or " " * bool(_SPACED.search(text)))
    if before:
        return NewItems(items[before - 1][1], gap + what, what)
    return NewItems(items[0][0], what + gap, what)


def whole_item(text: str, start: int, end: int) -> tuple[int, int]:
    """The item of a list with its quotation marks, if the place is all that stands between them; else the place itself."""
    item = (start - 1, end + 1)
    is_item = any(item in one.items for one in containers(text) if one.bracket == "[")
    return item if is_item and text[start - 1] == text[end] == '"' else (start, end)


def items_on_lines(text: str) -> Sequence[str]:
    """The items of lists that stand on one line with other text, each as it is written, without those that stand in several places."""
    on_lines = [
        one for one in containers(text) if one.bracket == "[" and "\n" not in text[one.start : one.end]
    ]
    items = (text[slice(*item)] for one in sorted(on_lines, key=lambda one: one.start) for item in one.items)
    return [item for item in items if text.count(item) == 1]


def with_commas(text: str) -> str:
    """The text without commas that divide nothing, and with those that lack between two items."""
    pieces: list[str] = []
    done, last = 0, ""
    tokens = [*_TOKEN.finditer(text)] if len(text) <= MAX_CHARS else []
    for number, token in enumerate(tokens):
        following = tokens[number + 1] if number + 1 < len(tokens) else None
        if token[0] == "," and (last in ("", ",", *_BRACES) or following is None or following[0] in ",]}"):
            end = following.start() if following is not None else token.end()
            divides_lines = "\n" in text[token.end() : end]
            pieces.append(text[done : token.start()])
            done = token.end() if divides_lines else end
            continue
        if last not in ("", ",", ":", *_BRACES) and token[0] not in ",:]}":
            before = tokens[number - 1].end()
            pieces += [text[done:before], ","]
            done = before
        last = token[0]
    return "".join([*pieces, text[done:]])


def _reads(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
