"""Lists in text: items with their markers and boxes, and what a small model copies around new ones."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from aeond.domain.names import folded

LIST_ITEM: Final = re.compile(
    r"(?P<indent>\s*)(?:(?P<bullet>[-*+\u2022])|(?P<number>\d+)(?P<dot>[.)]))(?P<space>\s+)(?P<box>\[[ xX]?\]\s+)?\S"
)


def item_text(line: str) -> str:
    """The line without the marker of a list and its box; the line itself if it is no list item."""
    item = LIST_ITEM.match(line)
    return line[item.end() - 1 :] if item else line


def listed(text: str, addition: str) -> str:
    """The lines with the marker of the list that the text ends with, unless one is set apart. Those that have a marker of such a list
    get that of this one: small models copy one from elsewhere. A ticked item stays as it is.
    """
    last = text.removesuffix("\n").removesuffix("\r").rpartition("\n")[2]
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
    is_copied = item is not None and bool(item["bullet"]) and not _is_ticked(item)
    single = len(line.strip().splitlines()) == 1
    fits = not text.strip() or any(map(LIST_ITEM.match, text.splitlines()))
    return item_text(line) if is_copied and single and not fits else line


def open_item(text: str, ticked: str) -> str:
    """The text of the open item that a ticked one repeats, if it is the only line with this text; "" if there is none."""
    item = LIST_ITEM.match(ticked)
    if item is None or not _is_ticked(item):
        return ""
    same = [line for line in text.splitlines() if item_text(line).strip() == item_text(ticked).strip()]
    own = LIST_ITEM.match(same[0]) if len(same) == 1 else None
    return item_text(same[0]).strip() if own and own["box"] and not _is_ticked(own) else ""


def place_of_news(text: str, lines: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Where in the text lines that are to be added belong, and those that are new: where the first of several repeat a part of the text, they say
    behind which lines the others come, or at the end of which list."""
    there = text.splitlines(keepends=True)
    copied, known = _forms(lines), _forms(there)
    starts = [at for at, form in enumerate(known) if len(lines) > 1 and form and form == copied[0]]
    if not starts:
        return len(text), lines
    length, start = max((_in_common(copied[:-1], known[at : at + len(copied)]), at) for at in starts)
    end = start + length
    if LIST_ITEM.match(lines[-1]):
        while end < len(there) and LIST_ITEM.match(there[end]):
            end += 1
    return sum(map(len, there[:end])), lines[length:]


def without_repeated_end(lines: Sequence[str], following: Sequence[str]) -> Sequence[str]:
    """The lines without the last of several that repeat those that follow in the text."""
    copied, there = _forms(lines), _forms(following[: len(lines)])
    most = min(len(lines) - 1, len(following))
    lengths = (length for length in range(most, 0, -1) if copied[-length:] == there[:length])
    return lines[: len(lines) - next(lengths, 0)]


def _in_common(lines: Sequence[str], others: Sequence[str]) -> int:
    """With how many lines both begin."""
    pairs = zip(lines, others, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(lines), len(others)))


def _forms(lines: Sequence[str]) -> list[str]:
    return [folded(item_text(line.strip())) for line in lines]


def _is_ticked(item: re.Match[str]) -> bool:
    return "x" in (item["box"] or "").casefold()


def _without_marker(line: str, item: re.Match[str], numbers: Collection[str]) -> str:
    """The text of an item of the same list. Other numbers are part of the text: "15. May"."""
    own = LIST_ITEM.match(line)
    if own is None or own["indent"] != item["indent"] or _is_ticked(own):
        return line
    goes_on = item["number"] is not None and own["number"] in numbers
    return item_text(line) if own["bullet"] or goes_on else line


def _sets_apart(line: str) -> bool:
    """Whether the line has a form of its own: a list item, a heading, a quotation, a row of a table, code."""
    return LIST_ITEM.match(line) is not None or line.lstrip().startswith(("#", ">", "|", "```", "---"))
