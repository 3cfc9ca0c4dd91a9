"""The chain as it is printed."""

import sys
from io import StringIO

import pytest

from aeon_cli.observing.chain import Link
from aeon_cli.observing.chain_text import print_chain

LINKS = [
    Link("request", 1, 0.0, "user 1000 asked: " + "word " * 30, details=("because " + "of it " * 20,)),
    Link("result", 12, 0.0, "succeeded: " + "世界" * 40, "s1"),
    Link("end", 13, 0.0, "x" * 200),
]


class Screen(StringIO):
    """A terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_each_link_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is wrapped or cut: the number of the event, the kind, the step and the words, and the details below."""
    print_chain("r1", LINKS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "run r1"
    assert [len(line.split("  ")[0]) for line in lines] == [6, 0, 0, 0, 0]
    assert [line.split()[:2] for line in (lines[1], lines[3], lines[4])] == [
        ["1", "request"],
        ["12", "result"],
        ["13", "end"],
    ]
    assert lines[2].startswith(" " * 23)
    assert lines[2].strip() == LINKS[0].details[0].strip()


def test_a_terminal_gets_lines_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal of 80 columns no line is longer, continued lines stay in their column, and nothing is lost."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    print_chain("r1", LINKS)
    from rich.cells import cell_len

    lines = screen.getvalue().splitlines()
    assert max(cell_len(line) for line in lines) <= 80
    assert len(lines) > 8
    joined = "".join(screen.getvalue().split())
    for text in (LINKS[0].words, LINKS[0].details[0], LINKS[1].words, LINKS[2].words):
        assert "".join(text.split()) in joined
