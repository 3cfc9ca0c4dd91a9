"""Lines of a settings file by their section: `[glaze] hold_min = 20` is that line below the heading `[glaze]`.

Sections often have the same keys, so that a line alone may stand in several places.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.frozen import frozen

_ENDINGS: Final = frozenset({".ini", ".toml", ".cfg", ".conf", ".desktop", ".service"})
_HEADING: Final = re.compile(
    r"^[ \t]*(\[[^\[\]\r\n]+\]|\[\[[^\[\]\r\n]+\]\])[ \t]*(?:[#;].*)?$", re.MULTILINE
)
_NAMED: Final = re.compile(r"\s*(\[[^\[\]\r\n]+\]|\[\[[^\[\]\r\n]+\]\])\s+(?=\S)")


@frozen
class Section:
    """The lines below a heading, from `start` to `end` of the text, and what is named of them."""

    heading: str
    start: int
    end: int
    named: str


def has_sections(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in _ENDINGS


def section_named(text: str, old: str, path: str) -> Section | None:
    """The one section whose heading `old` begins with; None if it begins with none, has nothing else, or the heading is there twice."""
    named = _NAMED.match(old) if has_sections(path) else None
    if named is None:
        return None
    headings = list(_HEADING.finditer(text))
    found = [number for number, one in enumerate(headings) if one[1] == named[1]]
    if len(found) != 1:
        return None
    (number,) = found
    end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
    return Section(named[1], headings[number].end(), end, old[named.end() :])


def without_heading(text: str, heading: str) -> str:
    """The text without this heading before it."""
    named = _NAMED.match(text)
    return text[named.end() :] if named and named[1] == heading else text


def heading_above(text: str, place: int, path: str) -> str:
    """The heading of the section that has this place; "" if there is none."""
    above = [one[1] for one in _HEADING.finditer(text, 0, place)] if has_sections(path) else []
    return above[-1] if above else ""


def with_headings(lines: Sequence[str], path: str) -> list[str]:
    """The lines, those that stand in several sections each with its heading."""
    if not has_sections(path):
        return list(lines)
    heading, named = "", []
    for line in lines:
        found = _HEADING.fullmatch(line)
        heading = found[1] if found else heading
        named.append(f"{heading} {line.strip()}" if heading and not found and lines.count(line) > 1 else line)
    return named
