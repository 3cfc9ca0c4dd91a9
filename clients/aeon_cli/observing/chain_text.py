"""Prints the chain of causes of a run."""

from collections.abc import Sequence

from aeon_cli.observing.chain import Link
from aeon_cli.text.printable import one_line

_KIND_CELLS = 11
_STEP_CELLS = 6


def print_chain(run_id: str, links: Sequence[Link]) -> None:
    """One link per line with the number of its event, its step and its words, and its details below."""
    print(f"run {one_line(run_id)}")
    steps = max([_STEP_CELLS, *(len(one_line(link.step_id)) for link in links)])
    for link in links:
        head = f"{link.seq:>5}  {link.kind.ljust(_KIND_CELLS)} {one_line(link.step_id).ljust(steps)}"
        print(f"{head}  {link.words}")
        indent = " " * (len(head) + 4)
        for detail in link.details:
            print(f"{indent}{detail}")
