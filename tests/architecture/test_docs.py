"""The documentation says what the code does."""

import re

from tests.support.diagrams import PAGE, with_diagrams
from tests.support.repository import ROOT


def test_the_state_diagrams_are_those_of_the_tables() -> None:
    """The state diagrams in docs/architecture.md are generated from the transition tables and current."""
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("stateDiagram-v2") == 2
    assert page == with_diagrams(page), "run: python -m tests.support.diagrams"


def test_links_between_pages_lead_somewhere() -> None:
    """Each relative link in README and docs names a file of this repository."""
    broken = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []
