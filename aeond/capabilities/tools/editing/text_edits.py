"""Edits of text: replaces one place, or adds lines. The rest of a file stays as it is, byte for byte.

Bytes that are no UTF-8 pass through unchanged. The line breaks of the file are used for new lines. An edit keeps the
format of a file: a list goes on with its markers, a table with its columns, and what was valid JSON, TOML or INI stays valid.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.editing.formats import breaks, is_valid, keep_format
from aeond.capabilities.tools.editing.json_items import NewItems, is_json, new_items, whole_item, with_commas
from aeond.capabilities.tools.editing.list_items import (
    LIST_ITEM,
    block_of,
    item_text,
    listed,
    without_copied_marker,
)
from aeond.capabilities.tools.editing.places import (
    line_bounds,
    lines_around,
    only_place,
    shown,
    whole_line,
)
from aeond.capabilities.tools.editing.sections import (
    end_of_section,
    line_in_section,
    opens_section,
    sets_apart,
    settings_of,
    split_at_section,
    without_section,
)
from aeond.capabilities.tools.files.differences import Edit
from aeond.capabilities.tools.files.table_rows import as_rows
from aeond.domain.names import folded
from aeond.errors import ToolError
from aeond.frozen import frozen

_WINDOWS: Final = codecs.lookup("cp1252")  # found here, because a sandbox may not show the codec's file later

# Formats in which a backslash has no meaning: prose and tables.
_PROSE: Final = frozenset({"", ".txt", ".md", ".csv", ".tsv", ".log", ".org", ".rst"})
_ESCAPED_BREAKS: Final = re.compile(r"(?:[^\\]|(?<![:\\])\\n)*")


def with_line_breaks(text: str, path: str) -> str:
    r"""The text with each `\n` that is written as two characters made a line break, if it can only be meant so.

    Small models escape twice. It can only be meant so in a text without any line break, all of whose backslashes
    belong to such an `\n` (none after a colon, as in `C:\new`), for a file of prose or a table: in source code
    and data formats the two characters have a meaning.
    """
    if not is_prose(path) or "\n" in text or not _ESCAPED_BREAKS.fullmatch(text):
        return text
    return text.replace("\\n", "\n")


def is_prose(path: str) -> bool:
    """Whether the file is prose, or a table, by its name."""
    return PurePosixPath(path).suffix.lower() in _PROSE


@frozen
class Replacement:
    """`new` in the place of `old`; an empty `new` removes it, with its line if nothing else is left.

    A section of settings that it brings stands behind the section of that place, whose other keys stay its own. Where `old` begins a list item and `new` is a whole one, it takes the place of the item, but for the bullet or number.
    """

    old: str
    new: str


@frozen
class Addition:
    """Lines below the line that is `below`, else at the end; below a list in prose, with its markers. A new section of settings stands behind
    the section of that line."""

    text: str
    below: str = ""


def edit_text(content: bytes, changes: Sequence[Replacement | Addition], path: str) -> Edit:
    """Makes the changes in turn; the lines below which others stand are found as they were before.

    Lines that break the format, or are there already, are left out where something else is changed, and the report says so. `old` is found
    exactly, else with other spacing and case. Of several places the one that is a whole word or a
    whole line counts. Raises ToolError: TEXT_NOT_FOUND, with the nearest lines as candidates; TEXT_AMBIGUOUS, with the
    lines; NOT_TEXT; FORMAT_BROKEN.
    """
    text = _decoded(content, path)
    changes = [part for change in changes for part in _parted(text, change, path)]
    kept = _without_copies(text, changes)
    after, notes = _changed(text, kept, path)
    if after == text and (lasting := _without_restored(kept)) != kept:
        kept = lasting
        after, notes = _changed(text, kept, path)
    if breaks(text, after, path):
        fitting = [change for change in kept if not _is_odd(text, change, path)]
        if len(fitting) == len(kept):  # what they are added to is replaced
            fitting = [change for change in kept if isinstance(change, Replacement)]
        if 0 < len(fitting) < len(kept):
            kept = fitting
            after, notes = _changed(text, kept, path)
    keep_format(text, after, path)
    left_out = ["nothing else added: it is there already, or is no part of such a file"]
    return Edit(
        _encoded_like(text, after, path), "\n".join([*notes, *(left_out if len(kept) < len(changes) else [])])
    )


def _changed(text: str, changes: Sequence[Replacement | Addition], path: str) -> tuple[str, Sequence[str]]:
    """The text after the changes, and what each has done: replacements and lines at the end in turn, then, from the top, items of JSON and
    lines below others."""
    items = _items_of(text, changes, path)
    below = {
        at: change
        for at, change in enumerate(changes)
        if isinstance(change, Addition) and change.below.strip() and at not in items
    }
    places = {**_places_of(text, below, path), **{at: item.place for at, item in items.items()}}
    after, notes, moved = _in_turn(text, changes, places, path)
    length = len(after)
    for at, before in sorted(moved.items(), key=lambda one: one[1]):
        place = before + len(after) - length
        if at in items:
            after = after[:place] + _broken_like(after, items[at].text) + after[place:]
            notes[at] = f"added: {shown(items[at].what)}"
        else:
            after, notes[at] = _added(after, place, below[at].text, path)
    if is_json(path) and breaks(text, after, path) and not breaks(text, with_commas(after), path):
        after = with_commas(after)
    return after, [notes[at] for at in sorted(notes)]


def _in_turn(
    text: str, changes: Sequence[Replacement | Addition], places: Mapping[int, int], path: str
) -> tuple[str, dict[int, str], Mapping[int, int]]:
    """The text after the changes that have no place, what each has done, and where the places are then."""
    replaced = {change.old for change in changes if isinstance(change, Replacement) and change.new}
    notes: dict[int, str] = {}
    for at, change in enumerate(changes):
        if at in places or (isinstance(change, Replacement) and not change.new and change.old in replaced):
            continue  # to replace a line is to remove it
        if isinstance(change, Addition):
            changed, note = _added(text, len(text), change.text, path)
        else:
            changed, note, (start, end) = _replaced(text, change.old, change.new, path)
            longer = len(changed) - len(text)
            places = {one: _moved(place, start, end, longer) for one, place in places.items()}
        if changed != text or (at == len(changes) - 1 and not notes and not places):
            notes[at] = note
        text = changed
    return text, notes, places


def _items_of(text: str, changes: Sequence[Replacement | Addition], path: str) -> Mapping[int, NewItems]:
    """The additions that are items or members within a JSON document. Raises ToolError as `only_place` does."""
    if not is_json(path) or not is_valid(text, path):
        return {}
    found = {}
    for at, change in enumerate(changes):
        if isinstance(change, Addition):
            named = (
                only_place(text, change.below.strip("\r\n"), path) if change.below.strip() else (0, len(text))
            )
            found[at] = new_items(text, change.text, named, line_bounds(text, *named))
    return {at: item for at, item in found.items() if item is not None}


def _moved(place: int, start: int, end: int, longer: int) -> int:
    """Where a place is after a replacement from start to end: behind the new text if it was within the old one."""
    return place if place <= start else max(place, end) + longer


def _places_of(text: str, additions: Mapping[int, Addition], path: str) -> Mapping[int, int]:
    """Where each of these additions stands, in the order of the text: below the line that it names. Raises ToolError as `only_place` does."""
    places = []
    opened: set[int] = set()  # lines below a new section belong to it
    for at, addition in additions.items():
        start, end = only_place(text, addition.below.strip("\r\n"), path)
        place = line_bounds(text, start, end)[1]
        if opens_section(addition.text, path):
            opened.add(place)
        places.append((end_of_section(text, place) if place in opened else place, place in opened, at))
    return {at: place for place, _, at in sorted(places)}


def _parted(text: str, change: Replacement | Addition, path: str) -> Sequence[Replacement | Addition]:
    """The change; settings of a section that is there already, each in its place; a replacement that would give the keys below its place
    to a section that it brings, in two parts: the section as an addition."""
    new = change.text if isinstance(change, Addition) else change.new
    header, replacing, others = settings_of(text, new, path)
    named = {header, *replacing, *(name.removeprefix(header).strip() for name in replacing)}
    if isinstance(change, Addition):  # elsewhere a header may stand twice, as for each of several peers
        is_meant = len(new.strip().splitlines()) == 1 or breaks(text, f"{text}\n{new}", path)
    else:
        is_meant = change.old.strip() in named
    if is_meant and (replacing or (header and others)):
        return [
            *(Replacement(name, line) for name, line in replacing.items()),
            *([Addition(others, header)] if others else []),
        ]
    if isinstance(change, Addition):
        return [change]
    is_named = line_in_section(text, change.old, path) is not None
    if is_named:
        change = Replacement(change.old, without_section(change.new, change.old))
    if not opens_section(change.new, path):
        return [change]
    try:
        start, end = only_place(text, change.old.rstrip("\r\n"), path)
    except ToolError:  # another change may bring what it replaces
        return [change]
    first, last = line_bounds(text, start, end)
    old = change.old if is_named else text[first:last].rstrip("\r\n")
    new, section = split_at_section(old, text[first:start] + change.new + text[end:last])
    within_value = breaks(text, text[:first], path)  # a line in brackets is a part of it
    if not section or within_value or end_of_section(text, last) == last:
        return [change]
    return [Replacement(old, new.rstrip("\r\n")), Addition(section.rstrip("\r\n"), old)]


def _without_copies(text: str, changes: Sequence[Replacement | Addition]) -> Sequence[Replacement | Addition]:
    """The changes without lines that are there already, which a model copies; all of them if there are no others."""
    replaced = {
        folded(item_text(change.old.strip())) for change in changes if isinstance(change, Replacement)
    }

    def is_copy(change: Replacement | Addition) -> bool:
        if not isinstance(change, Addition):
            return False
        near = block_of(text.splitlines(), change.below) if change.below.strip() else text.splitlines()
        there = {folded(item_text(line)) for line in near} - replaced
        return folded(item_text(change.text.strip())) in there

    return [change for change in changes if not is_copy(change)] or changes


def _without_restored(changes: Sequence[Replacement | Addition]) -> Sequence[Replacement | Addition]:
    """The changes without lines that bring back what another one removes, as a model writes that only wants it removed."""
    removed = {
        folded(item_text(change.old.strip()))
        for change in changes
        if isinstance(change, Replacement) and not change.new
    }
    return [
        change
        for change in changes
        if isinstance(change, Replacement) or folded(item_text(change.text.strip())) not in removed
    ]


def _is_odd(text: str, change: Replacement | Addition, path: str) -> bool:
    """Whether a line for a valid document breaks it, as what a model wants to say to a person does."""
    return isinstance(change, Addition) and breaks(text, _changed(text, [change], path)[0], path)


def _replaced(text: str, old: str, new: str, path: str) -> tuple[str, str, tuple[int, int]]:
    """The text after it, a report, and the place that it took."""
    old, new = with_line_breaks(old, path), _broken_like(text, with_line_breaks(new, path))
    if new and not new.endswith("\n"):
        old = old.rstrip("\r\n")  # the line keeps its end
    if not old.strip():
        raise ToolError("the text to replace is empty", reason="TEXT_NOT_FOUND", field="changes")
    start, end = only_place(text, old, path)
    if new == "":
        start, end = whole_line(text, *(whole_item(text, start, end) if is_json(path) else (start, end)))
        return text[:start] + text[end:], f"removed: {shown(text[start:end])}", (start, end)
    start, new = _as_item(text, start, new, prose=is_prose(path))
    changed = text[:start] + new + text[end:]
    before, now = lines_around(text, start, end), lines_around(changed, start, start + len(new))
    return changed, f"before: {shown(before)}\nnow: {shown(now)}", (start, end)


def _added(text: str, place: int, addition: str, path: str) -> tuple[str, str]:
    """The text with these lines at the place, or behind the line that it is within or ends, and a report."""
    if text[place - 1 : place] != "\n":
        place = line_bounds(text, place, place)[1]
    above, rest = text[:place], text[place:]
    lines = with_line_breaks(addition, path)
    if is_prose(path):
        lines = listed(text, above, lines)
    added = _broken_like(text, as_rows(text, lines, path))
    line_break = _line_break(text)
    before = "" if not above or above.endswith("\n") else line_break
    touches = bool(above.strip()) and above.splitlines()[-1] != "" and not added[:1].isspace()
    if touches and opens_section(added, path) and sets_apart(text):
        before += line_break
    after = "" if added.endswith("\n") else line_break
    return above + before + added + after + rest, f"added: {shown(added)}"


def _as_item(text: str, start: int, new: str, *, prose: bool) -> tuple[int, str]:
    """Where to begin, and the text without bullet or number, if it is a whole list item for the text of one; with another number than
    the item's, as of a date, the item with it."""
    first, last = line_bounds(text, start, start)
    own, item = LIST_ITEM.match(text[first:last]), LIST_ITEM.match(new)
    if own is None and prose:
        return start, without_copied_marker(text, new)
    if own is None or item is None or start != first + own.end() - 1 or (item["number"] and own["bullet"]):
        return start, new
    if item["number"] not in {None, "1", own["number"]}:
        return first + own.end("indent"), new.lstrip()
    return first + own.end("space"), new[item.end("space") :]


def _decoded(content: bytes, path: str) -> str:
    if b"\0" in content:
        raise ToolError(f"{path!r:.200} is not a text file", reason="NOT_TEXT", field="path")
    return content.decode("utf-8", "surrogateescape")


def _encoded_like(before: str, text: str, path: str) -> bytes:
    """The text in the encoding of the file: that of Windows if it has bytes beyond ASCII and none of them is UTF-8."""
    beyond = [char for char in before if not char.isascii()]
    if not beyond or not all("\udc80" <= char <= "\udcff" for char in beyond):
        return text.encode("utf-8", "surrogateescape")
    try:
        return _WINDOWS.encode(text, "surrogateescape")[0]
    except UnicodeEncodeError as error:
        lacking = error.object[error.start : error.end]
        raise ToolError(
            f"{path!r:.200} is not UTF-8, and its encoding has no {lacking!r:.50}",
            reason="NOT_TEXT",
            field="changes",
        ) from error


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _broken_like(text: str, new: str) -> str:
    return new.replace("\r\n", "\n").replace("\n", _line_break(text))
