"""The demonstration's own words."""

import pytest

from aeond.daemon.demo import ProgressLine


def test_a_pipe_gets_each_tenth_of_the_way_once(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe progress is a handful of lines, not hundreds."""
    line = ProgressLine()
    for percent in range(101):
        line.show(f"model: downloading {percent}%; runs: 0 at work")
    line.show("ready")
    line.end()
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 13
    assert shown[0] == "model: downloading 0%; runs: 0 at work"
    assert shown[-1] == "ready"
    assert not any("\r" in text or "\033" in text for text in shown)
