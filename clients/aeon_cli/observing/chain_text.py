"""Prints the chain of causes of a run."""

import sys
from collections.abc import Sequence

from aeon_cli.observing.chain import Link
from aeon_cli.text.printable import one_line, width_of
from aeon_cli.text.terminals import look_at

_KIND_CELLS = 12
_LEAST_STEP_CELLS = 3
_LEAST_CELLS = 30


def print_chain(run_id: str, links: Sequence[Link]) -> None:
    """One link per line with the number of its event, its step and its words, and its details below. On a terminal, lines
    are wrapped within their column.
    """
    terminal = look_at(sys.stdout)
    print(f"run {one_line(run_id)}")
    steps = max([_LEAST_STEP_CELLS, *(width_of(one_line(link.step_id)) for link in links)])
    for link in links:
        step = one_line(link.step_id)
        head = f"{link.seq:>4}  {link.kind.ljust(_KIND_CELLS)}{step}{' ' * (steps - width_of(step))}  "
        cells = max(terminal.columns - len(head), _LEAST_CELLS) if terminal.live else 0
        for number, line in enumerate(_wrapped(link.words, cells)):
            print(f"{' ' * width_of(head) if number else head}{line}".rstrip())
        for detail in link.details:
            for number, line in enumerate(_wrapped(detail, cells - 2 if cells else 0)):
                print(f"{' ' * width_of(head)}{'    ' if number else '  '}{line}")


def _wrapped(text: str, cells: int) -> list[str]:
    """The text in lines of at most that many cells, broken at spaces if there are any; 0 cells: on one line."""
    if not cells:
        return [text]
    from rich.console import Console
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(Console(width=cells), cells - 2)]
