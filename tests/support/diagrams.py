"""The diagrams in docs/architecture.md: states from the transition tables, packages from the imports.

`python -m tests.support.diagrams` writes them.
"""

import re
from collections import defaultdict

from aeond.domain.runs.run import RunState
from aeond.state_machine.transitions import RUN_TRANSITIONS, STEP_TRANSITIONS
from tests.support.package_picture import picture_of_the_whole, pictures_of_packages
from tests.support.repository import ROOT
from tests.support.step_consequences import STEP_CONSEQUENCES

PAGE = ROOT / "docs" / "architecture.md"


def _mermaid(edges: dict[tuple[str, str], list[str]], initial: str) -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {initial}"]
    lines += [f"    {source} --> {target}: {', '.join(names)}" for (source, target), names in edges.items()]
    return "\n".join([*lines, "```"])


def run_diagram() -> str:
    """Moves of a run; events that leave its state as it is are left out."""
    edges: dict[tuple[str, str], list[str]] = defaultdict(list)
    for state, admitted in RUN_TRANSITIONS.items():
        for kind, targets in admitted.items():
            for target in targets:
                if target is not state:
                    edges[state.name, target.name].append(kind.__name__)
    return _mermaid(edges, RunState.PENDING.name)


def step_diagram() -> str:
    """Moves of a step by its own events and by those of other steps and of the run."""
    edges: dict[tuple[str, str], list[str]] = defaultdict(list)
    for table in (STEP_TRANSITIONS, STEP_CONSEQUENCES):
        for state, admitted in table.items():
            for kind, targets in admitted.items():
                for target in targets:
                    if target is not state or table is STEP_TRANSITIONS:
                        edges[state.name, target.name].append(kind.__name__)
    return _mermaid(edges, "PENDING")


def with_diagrams(page: str) -> str:
    """The page with all diagrams as tables and imports have them now."""
    diagrams = {
        "run states": run_diagram,
        "step states": step_diagram,
        "whole": picture_of_the_whole,
        "packages": pictures_of_packages,
    }
    for name, draw in diagrams.items():
        diagram, pattern = draw(), rf"(?<=<!-- {name} -->\n).*?(?=\n<!-- end -->)"
        before, after = re.split(pattern, page, maxsplit=1, flags=re.DOTALL)
        page = before + diagram + after
    return page


if __name__ == "__main__":
    PAGE.write_text(with_diagrams(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
