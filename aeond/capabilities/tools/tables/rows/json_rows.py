"""Rows of a JSON file in which a list of flat objects is all there is, or all besides single values above it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from types import NoneType
from typing import Final, NoReturn

from aeond.capabilities.tools.tables.cells import Cell, cells_of
from aeond.capabilities.tools.tables.reading import MAX_COLUMNS, MAX_ROWS, Table, table_of_records
from aeond.capabilities.tools.tables.rows.column_form import ColumnForm
from aeond.capabilities.tools.tables.statements import shown_cell
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_JSON_CHARS: Final = 512 << 10  # which are taken apart in a fifth of a second
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_ESCAPED: Final = re.compile(r"\\u(?!00[0-7])")  # of a character beyond ASCII
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_TRUTH: Final = ("true", "false")
_QUOTED_TRUTH: Final = re.compile(r"'(true|false)'", re.IGNORECASE)
_KINDS: Final = {bool: "true or false", str: "texts", float: "numbers"}
_MANY_DIGITS: Final = 10**15  # from which a float does not hold all of them


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


@frozen
class _Member:
    """A member of an object: its name, its value, and where these stand in the text."""

    name: str
    value: object
    start: int
    behind_name: int
    begin: int  # of the value
    end: int

    @property
    def kind(self) -> type:
        return float if type(self.value) is int else type(self.value)


@frozen
class _Record:
    members: tuple[_Member, ...]
    start: int
    end: int


@frozen
class JsonRows:
    """A RowFile. `kinds` are those of the values of each column but null, by the name that the members have; `escapes` whether the text writes
    characters beyond ASCII as escapes."""

    table: Table
    text: str
    records: tuple[_Record, ...]
    kinds: Mapping[str, AbstractSet[type]]
    escapes: bool

    @property
    def beside(self) -> Sequence[str] | None:
        start = _behind_space(self.text, 0)
        members = _members(self.text, start) if self.text[start] == "{" else ()
        lines = [line.rstrip("\r") for line in self.text.split("\n")]
        numbers: set[int] = set()
        of_rows: set[int] = set()
        for member in members:
            first, last = (self.text.count("\n", 0, place) for place in (member.start, member.end))
            (of_rows if isinstance(member.value, list) else numbers).update(range(first, last + 1))
        return [lines[number] for number in sorted(numbers)] if numbers.isdisjoint(of_rows) else None

    @property
    def rows(self) -> Sequence[str]:
        return [self.text[record.start : record.end] for record in self.records]

    @property
    def cells(self) -> Sequence[Sequence[Cell]]:
        """Texts stay as they are, also those of digits: of a telephone number each zero counts. True and false are the numbers 1 and 0, as in SQL."""
        read = cells_of(self.table.rows, len(self.kinds))
        return [self._cells(*column, cells) for column, cells in zip(self._columns, read, strict=True)]

    def _cells(self, kinds: AbstractSet[type], texts: Sequence[str], cells: Sequence[Cell]) -> Sequence[Cell]:
        if kinds == {bool}:
            return [float(text == _TRUTH[0]) if text else None for text in texts]
        return [text or None for text in texts] if kinds == {str} else cells

    def plain(self, statement: str) -> str:
        """'true' and 'false' are 1 and 0 where there are columns of these, and no other column has such a text. Numbers, because without quotes they
        could be the name of a column."""
        others = {text.casefold() for kinds, column in self._columns if bool not in kinds for text in column}
        is_clear = {bool} in self.kinds.values() and others.isdisjoint(_TRUTH)
        if not is_clear:
            return statement
        return _QUOTED_TRUTH.sub(lambda found: "01"[found[1].casefold() == _TRUTH[0]], statement)

    @property
    def _columns(self) -> Iterator[tuple[AbstractSet[type], Sequence[str]]]:
        return zip(self.kinds.values(), zip(*self.table.rows, strict=True), strict=True)

    @property
    def written(self) -> Sequence[Sequence[str]]:
        """Numbers as they stand in the file: the table has 8.5 for 8.50."""
        numbers = [
            {one.name: self.text[one.begin : one.end] for one in record.members if one.kind is float}
            for record in self.records
        ]
        return [
            [found.get(name, cell) for name, cell in zip(self.kinds, cells, strict=True)]
            for found, cells in zip(numbers, self.table.rows, strict=True)
        ]

    def changed(self, number: int, cells: Sequence[Cell], columns: Sequence[ColumnForm]) -> str:
        kinds = {member.name: member.kind for member in self.records[number].members}
        values = {
            name: self._value(name, cell, column, old, kinds.get(name))
            for name, cell, column, old in zip(
                self.kinds, cells, columns, self.table.rows[number], strict=True
            )
            if cell != column.cells[number]
        }
        return self._with(self.records[number], values)

    def new(self, cells: Sequence[Cell], columns: Sequence[ColumnForm]) -> str:
        """The new object has the members of the last one, and others only for values that are given."""
        last = self.records[-1]
        names = {member.name for member in last.members}
        values = {
            name: self._value(name, cell, column)
            for name, cell, column in zip(self.kinds, cells, columns, strict=True)
            if cell is not None or name in names
        }
        return self._with(last, values)

    def joined(self, rows: Sequence[str | None], added: Sequence[str]) -> str:
        head, tail = self.text[: self.records[0].start], self.text[self.records[-1].end :]
        gaps = [self.text[one.end : other.start] for one, other in pairwise(self.records)]
        between = gaps[-1] if gaps else self._gap(self.records[0], head[head.rindex("[") + 1 :])
        kept = [(row, gap) for row, gap in zip(rows, [*gaps, between], strict=True) if row is not None]
        kept += [(row, between) for row in added]
        if kept:
            pieces = [head, *(piece for pair in kept for piece in pair)]
            text = "".join([*pieces[:-1], tail])
        else:
            text = head.rstrip() + tail.lstrip()
        try:
            _DECODER.decode(text)
        except ValueError as error:
            raise ToolError(
                f"the file would be no JSON: {error}", reason="FORMAT_BROKEN", field="changes"
            ) from None
        return text

    def _value(
        self, name: str, cell: Cell, column: ColumnForm, old: str = "", kind: type | None = None
    ) -> str:
        """The cell as a JSON value of the kind of the old one, if the object has one, else of one that the column has. Raises ToolError
        (STATEMENT_INVALID) where it is none."""
        if cell is None:
            return "null"
        kinds = self.kinds[name]
        if isinstance(cell, float | int):
            if kinds == {bool} and cell in (0, 1):
                return _TRUTH[not cell]
            if kind is str:
                return self._string(column.text(cell, old))
            if float in kinds or not kinds:
                return column.number(cell) if abs(cell) < _MANY_DIGITS else repr(cell)
            if str in kinds:
                return self._string(column.text(cell, old))
        else:
            text = shown_cell(cell)
            if bool in kinds and text.casefold() in _TRUTH:
                return text.casefold()
            if str in kinds or not kinds:
                return self._string(text)
            if float in kinds and _NUMBER.fullmatch(text):
                return text
        held = " and ".join(words for kind, words in _KINDS.items() if kind in kinds)
        raise ToolError(
            f"{name!r:.100} holds {held}, and {shown_cell(cell)!r:.100} is none",
            reason="STATEMENT_INVALID",
            field="changes",
        )

    def _string(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.escapes)

    def _with(self, record: _Record, values: Mapping[str, str]) -> str:
        """The text of the record with these values, by their names; those of members that it has not stand behind the others."""
        pieces, at, members = [], record.start, record.members
        for member in members:
            if member.name in values:
                pieces += [self.text[at : member.begin], values[member.name]]
                at = member.end
        pieces.append(self.text[at : members[-1].end])
        if len(members) > 1:
            gap = self.text[members[-2].end : members[-1].start]
        else:
            gap = self._gap(record, self.text[record.start + 1 : members[0].start])
        colon = self.text[members[-1].behind_name : members[-1].begin]
        names = {member.name for member in members}
        for name, value in values.items():
            pieces += [gap, self._string(name), colon, value] if name not in names else []
        return "".join([*pieces, self.text[members[-1].end : record.end]])

    def _gap(self, record: _Record, before: str) -> str:
        """What is to divide this record from another one, or its only member from another one: a comma, and the space that stands before it or
        behind the colon."""
        spaced = self.text[record.members[0].begin - 1].isspace()
        return "," + (before or " " * spaced)


def json_rows(text: str) -> JsonRows | None:
    """The objects in the only list of the text; None for one that holds other lists or objects, has a name twice in one object, is no
    JSON, or is longer than MAX_JSON_CHARS."""
    if len(text) > MAX_JSON_CHARS:
        return None
    try:
        _DECODER.decode(text)  # so that each part below is valid
        records = tuple(_records(text, _start_of_list(text)))
    except (ValueError, RecursionError):
        return None
    found = [{member.name: member.value for member in record.members} for record in records]
    kinds: dict[str, set[type]] = {}
    for member in (member for record in records for member in record.members):
        kinds.setdefault(member.name, set()).update({member.kind} - {NoneType})
    are_alike = all(record.keys() & found[0].keys() for record in found)
    if not found or not are_alike or len(kinds) > MAX_COLUMNS or len(found) > MAX_ROWS:
        return None
    escapes = text.isascii() and bool(_ESCAPED.search(text))
    return JsonRows(table_of_records(found), text, records, kinds, escapes)


def _start_of_list(text: str) -> int:
    """Where the only list begins, of a text that is a list or an object with single values besides one. Raises ValueError."""
    start = _behind_space(text, 0)
    if text[start] != "{":
        return start
    nested = [member for member in _members(text, start) if isinstance(member.value, dict | list)]
    if len(nested) != 1:
        raise ValueError("there is no list, or something else besides")
    return nested[0].begin


def _records(text: str, start: int) -> Iterator[_Record]:
    """The objects of the list at this place. Raises ValueError where it has others than flat ones."""
    if text[start] != "[":
        raise ValueError("it is no list")
    at = _behind_space(text, start + 1)
    while text[at] != "]":
        members = tuple(_members(text, at))
        if not members or any(isinstance(member.value, dict | list) for member in members):
            raise ValueError("the object is empty, or holds another one")
        end = _behind_space(text, members[-1].end) + 1
        yield _Record(members, at, end)
        at = _behind_space(text, end)
        at = _behind_space(text, at + 1) if text[at] == "," else at


def _members(text: str, start: int) -> Sequence[_Member]:
    """The members of the object at this place. Raises ValueError where it is none, or has a name twice."""
    if text[start] != "{":
        raise ValueError("it is no object")
    found: list[_Member] = []
    at = _behind_space(text, start + 1)
    while text[at] != "}":
        name, behind_name = _DECODER.raw_decode(text, at)
        begin = _behind_space(text, _behind_space(text, behind_name) + 1)
        value, end = _DECODER.raw_decode(text, begin)
        found.append(_Member(name, value, at, behind_name, begin, end))
        at = _behind_space(text, end)
        at = _behind_space(text, at + 1) if text[at] == "," else at
    if len({member.name for member in found}) < len(found):
        raise ValueError("a name stands there twice")
    return found


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
