"""The prose of the project is plain engineering English."""

from pathlib import Path

import pytest

from tests.support.plain_english import DATA, LEGITIMATE, MARKERS, QUOTING, Passage, count, passages
from tests.support.repository import ROOT, text_files

# Markers per 1,000 words of prose. The limit may only be lowered.
LIMIT = 0.35


def markers_in(text: str) -> list[str]:
    return [found.marker for found in count([Passage(ROOT / "README.md", 1, text)]).found]


@pytest.mark.parametrize(
    ("text", "markers"),
    [
        ("Nobody is told of it anew.", ["told", "anew", "nobody"]),
        ("What was found is kept.", ["what is (as a subject)"]),
        ("The error says what is wrong.", []),
        ("What is 17.5 % of 420?", []),
        ("The command runs as user nobody.", []),
        ("The engine is given up at that moment.", ["give up", "moment"]),
        ("Amending the request recommends itself.", []),
    ],
)
def test_markers_are_recognised(text: str, markers: list[str]) -> None:
    """The counter finds each marker and accepts the uses that are plain English."""
    assert markers_in(text) == markers


def test_prose_of_every_kind_is_counted(tmp_path: Path) -> None:
    """Docstrings, comments, messages and pages are prose; code, code spans and fenced blocks are not."""
    source = tmp_path / "source.py"
    source.write_text(
        '"""Nobody reads it."""\n\nwhoever = 1  # mend this\nraise ValueError(f"it was told {whoever} twice anew")\n'
    )
    page = tmp_path / "page.md"
    page.write_text("Likewise `nobody`.\n\n```\nsomebody\n```\n")
    unit = tmp_path / "a.service"
    unit.write_text("# held up by this\nExecStart=/bin/nobody\n")
    contract = tmp_path / "a.proto"
    contract.write_text("// wishes\nmessage Moment {}\n")
    found = [found.marker for found in count(passages_outside([source, page, unit, contract])).found]
    assert sorted(found) == ["anew", "held up", "likewise", "mend", "nobody", "told", "wish"]


def passages_outside(paths: list[Path]) -> list[Passage]:
    """The prose of files that are not part of the repository."""
    return [passage for path in paths for passage in passages([path])]


def test_exceptions_name_what_exists() -> None:
    """Each legitimate use belongs to a marker, and each file or folder that is left out exists."""
    assert set(LEGITIMATE) <= set(MARKERS)
    assert [name for name in (*QUOTING, *DATA) if not (ROOT / name).exists()] == []


def test_prose_has_few_markers_of_the_dialect() -> None:
    """The rate of marker words over all prose of the repository stays below the limit."""
    counted = count(passages(text_files()))
    assert counted.words > 100_000
    assert counted.rate <= LIMIT, f"{counted.rate:.2f}; see: python -m tests.support.plain_english --list"
