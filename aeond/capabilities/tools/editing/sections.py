"""Sections of settings: where a new one may stand, so that no other one loses its keys to it, and lines that are named with theirs.

Such a name is the header and the line, `[lamp] watts = 60`: it tells the line from an equal one of another section, and no setting looks like it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

_SECTIONED: Final = frozenset({".ini", ".toml", ".cfg", ".conf"})
_HEADER: Final = re.compile(r"[ \t]*(\[\[?[^\[\],]+\]\]?)\s*(?:[#;].*)?")
_NAME: Final = re.compile(r"\s*(\[\[?[^\[\],]+\]\]?)[ \t]+([^\s#;].*?)\s*")
_SETTING: Final = re.compile(r"\s*([^\s\[\]#;=:][^\[\]#;=:]*?)\s*[=:]")


def opens_section(text: str, path: str) -> bool:
    """Whether one of the lines is the header of a section, in a file of settings by its name."""
    return PurePosixPath(path).suffix.lower() in _SECTIONED and any(map(_is_header, text.splitlines()))


def split_at_section(old: str, new: str) -> tuple[str, str]:
    """The new lines in place of the old ones, and those from the header of a further section on. A header that takes the place of another one, or
    stands above it, opens none."""
    lines = new.splitlines(keepends=True)
    last_header = next((line.strip() for line in reversed(old.splitlines()) if _is_header(line)), None)
    stays = [number for number, line in enumerate(lines) if line.strip() == last_header]
    if last_header is not None and not stays:
        return new, ""
    first = stays[-1] + 1 if stays else 0
    further = next((number for number in range(first, len(lines)) if _is_header(lines[number])), len(lines))
    if further < len(lines):
        further = max(_above_comments(lines, further), first)
    return "".join(lines[:further]), "".join(lines[further:])


def end_of_section(text: str, place: int) -> int:
    """The offset behind the last line of the section in which a line begins at this offset, without the empty lines and comments that lead to
    the next header."""
    lines = text[place:].splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if _is_header(line)), len(lines))
    if end < len(lines):
        end = _above_comments(lines, end)
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    return place + sum(map(len, lines[:end]))


def named_lines(lines: Sequence[str], path: str) -> Sequence[str]:
    """The lines; one of settings that stands in several sections, with the header of its own, if it is there once."""
    if PurePosixPath(path).suffix.lower() not in _SECTIONED:
        return lines
    headers = _headers_of(lines)
    texts = [line.strip() for line in lines]
    counts, places = Counter(texts), Counter(zip(headers, texts, strict=True))
    return [
        f"{header} {text}" if header and text and counts[text] > places[header, text] == 1 else line
        for header, text, line in zip(headers, texts, lines, strict=True)
    ]


def line_in_section(text: str, name: str, path: str) -> tuple[int, int] | None:
    """Where the line stands that is named with its section; None if this is no such name, or there is none or more than one such line."""
    found = _NAME.fullmatch(name)
    if found is None or name in text or PurePosixPath(path).suffix.lower() not in _SECTIONED:
        return None
    lines = text.split("\n")
    places = [*zip(_headers_of(lines), map(str.strip, lines), strict=True)]
    named = (found[1], found[2])
    if places.count(named) != 1:
        return None
    number = places.index(named)
    start = sum(len(line) + 1 for line in lines[:number]) + lines[number].index(found[2])
    return start, start + len(found[2])


def without_section(new: str, name: str) -> str:
    """The new text for a line that is named with its section, without the header that a model copies from the name."""
    found = _NAME.fullmatch(name)
    repeated = re.match(rf"\s*{re.escape(found[1])}\s+", new) if found else None
    return new[repeated.end() :] if repeated else new


def settings_of(text: str, new: str, path: str) -> tuple[str, Mapping[str, str], str]:
    """Takes apart lines that begin with the header of a section which the text has once. Returns the header; the lines that set an existing key,
    by the name of the line that each replaces; and the other lines. Without a header for any other text."""
    named = _NAME.fullmatch(new)
    header, *lines = named.groups() if named else map(str.strip, new.strip().splitlines() or [""])
    there = text.splitlines()
    headers = [found[1] for found in map(_HEADER.fullmatch, there) if found]
    if not opens_section(header, path) or any(map(_is_header, lines)) or headers.count(header) != 1:
        return "", {}, new
    existing = {
        _key_of(line): f"{header} {line.strip()}"
        for line, section in zip(there, _headers_of(there), strict=True)
        if section == header
    }
    replacing: dict[str, str] = {}
    others: list[str] = []
    for line in lines:
        name = existing.get(_key_of(line), "") if _key_of(line) else ""
        if name and name not in replacing and line_in_section(text, name, path):
            replacing[name] = line
        else:
            others.append(line)
    return header, replacing, "\n".join(others)


def sets_apart(text: str) -> bool:
    """Whether sections of the text have an empty line above their headers."""
    lines = text.splitlines()
    tops = [_above_comments(lines, number) for number, line in enumerate(lines) if _is_header(line)]
    return any(top > 0 and not lines[top - 1].strip() for top in tops)


def _headers_of(lines: Sequence[str]) -> Sequence[str]:
    """The header of the section that each line is in; none for headers, and for lines above the first of these."""
    headers: list[str] = []
    header = ""
    for line in lines:
        found = _HEADER.fullmatch(line.rstrip("\r\n"))
        header = found[1] if found else header
        headers.append("" if found else header)
    return headers


def _is_header(line: str) -> bool:
    return _HEADER.fullmatch(line.rstrip("\r\n")) is not None


def _key_of(line: str) -> str:
    """The key that a line of settings sets, without regard to case; "" if it sets none."""
    found = _SETTING.match(line)
    return found[1].casefold() if found else ""


def _above_comments(lines: Sequence[str], number: int) -> int:
    """The number of the first of the comments right above this line; its own if there are none."""
    while number > 0 and lines[number - 1].lstrip().startswith(("#", ";")):
        number -= 1
    return number
