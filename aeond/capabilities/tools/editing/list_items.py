"""Lists in text: items, their markers and boxes."""

import re
from collections.abc import Collection, Sequence
from typing import Final

LIST_ITEM: Final = re.compile(
    r"(?P<indent>\s*)(?:(?P<bullet>[-*+\u2022])|(?P<number>\d+)(?P<dot>[.)]))(?P<space>\s+)(?P<box>\[[ xX]?\]\s+)?\S"
)


def item_text(line: str) -> str:
    """The line without the marker of a list and its box; the line itself if it is no list item."""
    item = LIST_ITEM.match(line)
    return line[item.end() - 1 :] if item else line


def end_of_list(lines: Sequence[str], number: int) -> int:
    """The number of the last line of the list that this line is an item of or leads to: as its heading, perhaps with a ruler and empty lines below,
    or with a colon. Lines that are indented belong to the item above them, and deeper items too. If there is no list, the number itself, or that of the ruler."""
    if not LIST_ITEM.match(lines[number]):
        is_heading = lines[number].startswith("#")
        if number + 1 < len(lines) and _is_ruler(lines[number + 1]):
            number, is_heading = number + 1, True
        first = number + 1
        while is_heading and first < len(lines) and not lines[first].strip():
            first += 1
        leads = is_heading or lines[number].rstrip().endswith(":")
        if not leads or first >= len(lines) or not LIST_ITEM.match(lines[first]):
            return number
        number = first
    last = number
    while last + 1 < len(lines) and _goes_on(lines[number], lines[last + 1]):
        last += 1
    return last


def block_of(lines: Sequence[str], part: str) -> Sequence[str]:
    """The lines around the first one that has this part, up to the next empty line, heading or section; none if no line has it."""
    found = next((at for at, line in enumerate(lines) if part.strip() in line), None)
    if found is None:
        return ()
    first = last = found
    while first > 0 and lines[first].strip() and not lines[first].startswith(("#", "[")):
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip() and not lines[last + 1].startswith(("#", "[")):
        last += 1
    return lines[first : last + 1]


def _goes_on(first: str, line: str) -> bool:
    """Whether the line belongs to the list with this item: as one of the same kind, a deeper one, or a further line of one."""
    one, other = LIST_ITEM.match(first), LIST_ITEM.match(line)
    if one is None:
        return False
    if other is None:
        return bool(line.strip()) and line[0].isspace()
    is_deeper = len(other["indent"]) > len(one["indent"])
    is_alike = other["indent"] == one["indent"] and bool(other["bullet"]) == bool(one["bullet"])
    return is_deeper or is_alike


def _is_ruler(line: str) -> bool:
    return bool(line.strip()) and not any(map(str.isalnum, line))


def listed(text: str, above: str, addition: str) -> str:
    """The lines with the marker of the list that the text above them ends with, unless one is set apart. Those that have a marker of such a list
    get that of this one: small models copy one from elsewhere. A ticked item stays as it is.
    """
    lines = above.splitlines()
    while len(lines) > 1 and lines[-1][:1].isspace() and not LIST_ITEM.match(lines[-1]):
        lines.pop()  # a further line of the item above
    item = LIST_ITEM.match(lines[-1]) if lines else None
    if item is None:
        return without_copied_marker(text, addition)
    first = int(item["number"] or 0) + 1
    added = enumerate(addition.rstrip("\r\n").splitlines())
    new = [_without_marker(line, item, {str(index + 1), str(first + index)}) for index, line in added]
    if any(not line.strip() or _sets_apart(line) for line in new):
        return addition
    box = "[ ] " if item["box"] else ""
    markers = [item["bullet"] or f"{first + index}{item['dot']}" for index in range(len(new))]
    return "\n".join(
        f"{item['indent']}{marker}{item['space']}{box}{line.strip()}"
        for marker, line in zip(markers, new, strict=True)
    )


def without_copied_marker(text: str, line: str) -> str:
    """A single line without the bullet or open box that small models copy from elsewhere, for a text of which no line has one."""
    item = LIST_ITEM.match(line)
    is_copied = item is not None and bool(item["bullet"]) and "x" not in (item["box"] or "").casefold()
    single = len(line.strip().splitlines()) == 1
    fits = not text.strip() or any(map(LIST_ITEM.match, text.splitlines()))
    return item_text(line) if is_copied and single and not fits else line


def _without_marker(line: str, item: re.Match[str], numbers: Collection[str]) -> str:
    """The text of an item of the same list. Other numbers are part of the text: "15. May"."""
    own = LIST_ITEM.match(line)
    if own is None or own["indent"] != item["indent"] or "x" in (own["box"] or "").casefold():
        return line
    goes_on = item["number"] is not None and own["number"] in numbers
    return item_text(line) if own["bullet"] or goes_on else line


def _sets_apart(line: str) -> bool:
    """Whether the line has a form of its own: a list item, a heading, a quotation, a row of a table, code."""
    return LIST_ITEM.match(line) is not None or line.lstrip().startswith(("#", ">", "|", "```", "---"))
