"""docs/performance.md: every figure with the machine's floor beside it."""

import datetime as dt
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

INTRODUCTION = """Written by `make bench`. The machine: {machine}. Each section is one run of its command, and describes the code of
its date: contenders alternate, each in a separate process on the same disk; figures are medians. Absolute times depend on this
machine; the ratios are comparable across machines."""
PERFORMANCE = "performance.md"
_HEADING = "\n## "


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the method, and a table. `page` is the file below docs/ that has it, `name` its word for `--only`."""

    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    page: str = PERFORMANCE
    name: str = ""


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} us"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.0f} ms"


def megabytes(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def verdict(
    value: float, *, at_most: float | None = None, at_least: float | None = None, unit: str = ""
) -> str:
    """The aim and whether it was reached."""
    if at_most is not None:
        return f"<= {at_most:.3g}{unit}: {'reached' if value <= at_most else 'missed'}"
    assert at_least is not None
    return f">= {at_least:.3g}{unit}: {'reached' if value >= at_least else 'missed'}"


def replaced(section: Section, page: str) -> str:
    """A page written by hand, with the section in the place that its marks show."""
    begin, end = f"<!-- measured: {section.title} -->\n", "<!-- end -->"
    before, found, rest = page.partition(begin)
    if not found or end not in rest:
        raise ValueError(f"the page needs the lines {begin.strip()} and {end}")
    text = _text_of(section).partition("\n")[2].strip("\n")
    return f"{before}{begin}{text}\n{end}{rest.partition(end)[2]}"


def render(sections: Sequence[Section], before: str = "") -> str:
    """The whole page: new sections replace those of the page `before`; the others are kept."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    texts = {text.partition("\n")[0]: text.rstrip("\n") for text in before.split(_HEADING)[1:]}
    texts |= {section.title: _text_of(section) for section in sections}
    head = f"# Performance\n\n{INTRODUCTION.format(machine=machine)}\n"
    return "".join([head, *(f"{_HEADING}{text}\n" for text in texts.values())])


def _text_of(section: Section) -> str:
    today = dt.datetime.now(tz=dt.UTC).date()
    lines = [
        section.title,
        "",
        section.text,
        "",
        f"Measured on {today} by `python -m benchmarks --only {section.name}`.",
        "",
    ]
    lines += ["| " + " | ".join(section.columns) + " |", "| --- " * len(section.columns) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in section.rows]
    return "\n".join(lines)
