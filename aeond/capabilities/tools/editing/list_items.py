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
    """The number of the last item of the list that has this line, or begins below it, below a heading perhaps behind empty lines; the number itself
    if there is no list."""
    last = number
    for below in range(number + 1, len(lines)):
        is_heading = last == number and lines[number].startswith("#")
        if LIST_ITEM.match(lines[below]):
            last = below
        elif lines[below].strip() or not is_heading:
            break
    return last


def listed(text: str, above: str, addition: str) -> str:
    """The lines with the marker of the list that the text above them ends with, unless one is set apart. Those that have a marker of such a list
    get that of this one: small models copy one from elsewhere. A ticked item stays as it is.
    """
    last = above.removesuffix("\n").removesuffix("\r").rpartition("\n")[2]
    item = LIST_ITEM.match(last)
    if item is None:
        return without_copied_marker(text, addition)
    first = int(item["number"] or 0) + 1
    added = enumerate(addition.rstrip("\r\n").splitlines())
    lines = [_without_marker(line, item, {str(index + 1), str(first + index)}) for index, line in added]
    if any(not line.strip() or _sets_apart(line) for line in lines):
        return addition
    box = "[ ] " if item["box"] else ""
    markers = [item["bullet"] or f"{first + index}{item['dot']}" for index in range(len(lines))]
    return "\n".join(
        f"{item['indent']}{marker}{item['space']}{box}{line.strip()}"
        for marker, line in zip(markers, lines, strict=True)
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
