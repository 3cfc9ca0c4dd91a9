"""The demonstration's own words."""

import tomllib
from pathlib import Path

import pytest

from aeond.daemon.commands.demo import ProgressLine, _config
from aeond.daemon.config.model_sections import EngineRun
from aeond.daemon.config.schema import Config


def test_the_demonstration_needs_no_unit(tmp_path: Path) -> None:
    """Its daemon starts the engine by itself, also where the system service has a unit for that."""
    config = Config.model_validate(tomllib.loads(_config(tmp_path, "", "llama_cpp")))
    assert config.engine.run is EngineRun.CHILD


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
