"""The demonstration's own words."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from aeond.daemon.commands import demo
from aeond.daemon.commands.demo import REQUESTS, ProgressLine, _config
from aeond.daemon.config.model_sections import EngineRun
from aeond.daemon.config.schema import Config
from aeond.daemon.exits import Exit
from aeond.daemon.main import main


def test_the_demonstration_needs_no_unit(tmp_path: Path) -> None:
    """Its daemon starts the engine by itself, also where the system service has a unit for that."""
    config = Config.model_validate(tomllib.loads(_config(tmp_path, "", "llama_cpp")))
    assert config.engine.run is EngineRun.CHILD


def test_folders_may_have_any_name(tmp_path: Path) -> None:
    """A home folder whose name holds an emoji and an umlaut gives a configuration that can be read."""
    home = tmp_path / "Müller 🌊"
    config = Config.model_validate(tomllib.loads(_config(home, "", "llama_cpp")))
    assert config.daemon.state_dir == str(home / "state")


@pytest.mark.parametrize(("words", "sent"), [((), REQUESTS), (("Say hello.",), ("Say hello.",))])
def test_requests_replace_those_included(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sent: tuple[str, ...]
) -> None:
    """`aeond demo` sends four requests, or those of its command line."""
    received: list[str] = []

    def show(requests: Sequence[str], **_: object) -> Exit:
        received.extend(requests)
        return Exit.OK

    monkeypatch.setattr(demo, "show", show)
    assert main(["demo", *words]) == Exit.OK
    assert tuple(received) == sent


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
