"""The state diagrams in docs/architecture.md, from the tables that the kernel obeys.

`python -m tests.support.diagrams` writes them anew.
"""

import re
from collections import defaultdict

from aeond.domain.runs import RunState
from aeond.domain.transitions import RUN_TRANSITIONS, STEP_TRANSITIONS
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "architecture.md"
ENDS = tuple(state for state in RunState if state.ended)
# RunEnded carries the state that it ends in; a run that has not begun or waits can only be cancelled
# (or, where it has not begun or is being asked for, fail on an error of ours).
ENDED_FROM = {
    RunState.PENDING: (RunState.FAILED, RunState.CANCELLED),
    RunState.RUNNING: ENDS,
    RunState.AWAITING_INPUT: (RunState.FAILED,),
    RunState.SUSPENDED: (RunState.CANCELLED,),
}


def _mermaid(edges: dict[tuple[str, str], list[str]], initial: str) -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {initial}"]
    lines += [f"    {source} --> {target}: {', '.join(names)}" for (source, target), names in edges.items()]
    return "\n".join([*lines, "```"])


def run_diagram() -> str:
    """Moves of a run; events that leave its state as it is are left out."""
    edges: dict[tuple[str, str], list[str]] = defaultdict(list)
    for state, admitted in RUN_TRANSITIONS.items():
        for kind, target in admitted.items():
            for reached in ENDED_FROM[state] if target is None else (target,):
                if reached is not state:
                    edges[state.name, reached.name].append(kind.__name__)
    return _mermaid(edges, RunState.PENDING.name)


def step_diagram() -> str:
    """Moves of a step."""
    edges: dict[tuple[str, str], list[str]] = defaultdict(list)
    for state, admitted in STEP_TRANSITIONS.items():
        for kind, targets in admitted.items():
            for target in targets:
                edges[state.name, target.name].append(kind.__name__)
    return _mermaid(edges, "PENDING")


def with_diagrams(page: str) -> str:
    """The page with both diagrams as the tables have them now."""
    for name, diagram in (("run", run_diagram()), ("step", step_diagram())):
        pattern = rf"(?<=<!-- {name} states -->\n).*?(?=\n<!-- end -->)"
        before, after = re.split(pattern, page, maxsplit=1, flags=re.DOTALL)
        page = before + diagram + after
    return page


if __name__ == "__main__":
    PAGE.write_text(with_diagrams(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
