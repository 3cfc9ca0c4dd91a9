"""Tables without separators: lines of one form, as in logs, lists and diaries.

A line is a series of values with digits, words that most lines have, and other texts. Lines with the same series are rows: the values and the
texts are their cells, and the common words beside them name the columns.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from aeond.domain.names import DATE, NARROW_SPACES, TIME, between_groups
from aeond.frozen import frozen

MIN_ROWS: Final = 3
_NAME: Final = "name"
_NUMBER: Final = "number"
_MORE: Final = "more"  # the column of what single lines have behind the others
_NAMELESS: Final = frozenset({_NAME, _NUMBER, _MORE})
MAX_PARTS: Final = 24  # of a line
_MIN_COLUMNS: Final = 2
_LEAST_SHARE: Final = 0.5  # of all lines
_COMMON_FROM: Final = 0.6  # of all lines
_BULLET: Final = re.compile(r"^\s*(?:[-*\u2022]\s+)?(?:\[[ xX]\]\s*)?")
_GROUPS: Final = between_groups(NARROW_SPACES)
# A number with a sign of a currency or a unit at it.
_MEASURED: Final = re.compile(r"[€$£]?(\d[\d.,]*)([^\W\d_]{1,5}|[€$£%°])?")
_AROUND: Final = ",;:()|"
_VALUE: Final = "\0value"  # in no line
_TEXT: Final = "\0text"


@frozen
class AlikeLines:
    """The rows below the names of their columns, and the lines that are none."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    others: tuple[str, ...]


@frozen
class _Line:
    """The form of a line, as a word for each of its parts."""

    form: tuple[str, ...]
    parts: tuple[str, ...]


def alike_lines(lines: Sequence[str]) -> AlikeLines | None:
    """The table in these lines, which are not empty; None if too few have the same form, or that holds no number,
    or single lines go on behind it and no column has a name: these are sentences."""
    parted = [_parts(line) for line in lines]
    words = Counter(
        word for parts in parted for word in {part.casefold() for part in parts if not _has_digit(part)}
    )
    common = {word for word, number in words.items() if number >= max(MIN_ROWS, _COMMON_FROM * len(lines))}
    formed = [_formed(parts, common) for parts in parted]
    (usual, number), *_ = Counter(line.form for line in formed).most_common(1)
    cells = [part for part in usual if part in (_VALUE, _TEXT)]
    if number < max(MIN_ROWS, _LEAST_SHARE * len(lines)) or _VALUE not in usual or len(cells) < _MIN_COLUMNS:
        return None
    rows = [_row(line, usual) for line in formed if _begins(line, usual)]
    names = [*_names(usual, rows), _MORE]
    if not any(row[-1] for row in rows):
        names, rows = names[:-1], [row[:-1] for row in rows]
    elif _NAMELESS.issuperset(names):
        return None
    others = tuple(line for line, one in zip(lines, formed, strict=True) if not _begins(one, usual))
    return AlikeLines(tuple(names), tuple(rows), others)


def _begins(line: _Line, form: Sequence[str]) -> bool:
    return line.form[: len(form)] == form


def _row(line: _Line, form: Sequence[str]) -> tuple[str, ...]:
    """The cells of the line, and what it has behind the form."""
    cells = (part for kind, part in zip(form, line.parts, strict=False) if kind in (_VALUE, _TEXT))
    return *cells, " ".join(line.parts[len(form) :])


def _parts(line: str) -> Sequence[str]:
    """The words of the line, without its bullet, and numbers apart from their units; of a long line the rest is one part."""
    words = _GROUPS.sub("", _BULLET.sub("", line)).split()
    parts = [part for word in words for part in _split(word.strip(_AROUND)) if part]
    return [*parts[:MAX_PARTS], " ".join(parts[MAX_PARTS:])] if len(parts) > MAX_PARTS else parts


def _split(word: str) -> Iterator[str]:
    measured = None if DATE.fullmatch(word) else _MEASURED.fullmatch(word.rstrip("."))
    yield from (part for part in measured.groups() if part) if measured else (word,)


def _has_digit(part: str) -> bool:
    return any(map(str.isdigit, part))


def _formed(parts: Sequence[str], common: set[str]) -> _Line:
    def kind(part: str) -> str:
        if _has_digit(part):
            return _VALUE
        return part.casefold() if part.casefold() in common else _TEXT

    form: list[str] = []
    found: list[str] = []
    for one, alike in groupby(parts, kind):
        together = list(alike)
        pieces = [" ".join(together)] if one == _TEXT else together
        form += [one] * len(pieces)
        found += pieces
    return _Line(tuple(form), tuple(found))


def _names(form: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The names of the columns: each the common word before it, or else behind it, that names no other."""
    taken: set[int] = set()
    column = 0
    for at, part in enumerate(form):
        if part not in (_VALUE, _TEXT):
            continue
        beside = [
            one for one in (at - 1, at + 1) if 0 <= one < len(form) and form[one] not in (_VALUE, _TEXT)
        ]
        free = [one for one in beside if one not in taken and any(map(str.isalpha, form[one]))]
        values = [row[column] for row in rows]
        column += 1
        if part == _VALUE and all(map(DATE.fullmatch, values)):
            yield "date"
        elif part == _VALUE and all(map(TIME.fullmatch, values)):
            yield "time"
        elif free:
            taken.add(free[0])
            yield form[free[0]]
        else:
            yield _NUMBER if part == _VALUE else _NAME
