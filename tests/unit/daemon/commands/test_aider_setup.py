"""Aider's environment, as far as it can be judged without building one; `make aider-setup` builds it."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from aeond.capabilities.aider.environment import BUILT, PACKAGES, is_built, mark
from aeond.daemon.commands import aider_setup, engine_setup
from aeond.daemon.commands.aider_setup import finding, set_up
from aeond.daemon.commands.engine_setup import packages_in
from aeond.daemon.commands.findings import Verdict
from aeond.daemon.exits import Exit


def test_a_current_environment_is_not_rebuilt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An environment of this version is ready at once."""
    (tmp_path / BUILT).write_text(mark(), encoding="utf-8")
    assert set_up(tmp_path, again=False) is Exit.OK
    assert "Aider is ready" in capsys.readouterr().out


def test_the_list_pins_each_package_once() -> None:
    """Aider and all that it needs have one version each, and a name of the daemon's own environment none by accident."""
    lines = packages_in(PACKAGES)
    assert all(line.count("==") == 1 for line in lines)
    names = [line.partition("==")[0].lower() for line in lines]
    assert len(names) == len(set(names))
    assert "aider-chat" in names


def test_a_failed_build_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step that fails is reported with its remedy, and the environment does not count as built."""
    done: list[Sequence[str]] = []

    def run(command: Sequence[str], _environment: dict[str, str]) -> int:
        done.append(command)
        return 1  # no network here

    for module in (aider_setup, engine_setup):
        monkeypatch.setattr(module, "run_shown", run)
    monkeypatch.setattr(aider_setup, "GIBIBYTES", 0)
    monkeypatch.setattr(aider_setup, "NEWEST_PYTHON", sys.version_info[:2])
    folder = tmp_path / "env"
    assert set_up(folder, again=False) is Exit.PROBLEM
    assert done[0][1:] == ["-m", "venv", str(folder)]
    (folder / "lib/python3.11/site-packages/pip").mkdir(parents=True)
    assert set_up(folder, again=False) is Exit.PROBLEM
    assert "Check network" in capsys.readouterr().err
    assert not is_built(folder)
    monkeypatch.setattr(aider_setup, "GIBIBYTES", 1e9)
    assert set_up(folder, again=False) is Exit.PROBLEM
    assert "aider.environment" in capsys.readouterr().err
    monkeypatch.setattr(aider_setup, "NEWEST_PYTHON", (3, 1))
    assert set_up(folder, again=False) is Exit.PROBLEM
    assert "Python 3.1 or older" in capsys.readouterr().err


def test_doctor_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment is no finding; an incomplete one, and a missing git, are doubtful."""
    assert finding(tmp_path / "none") is None
    incomplete = finding(tmp_path)
    assert incomplete is not None
    assert incomplete.verdict is Verdict.DOUBTFUL
    (tmp_path / BUILT).write_text(mark(), encoding="utf-8")
    for git, verdict in (("/usr/bin/git", Verdict.GOOD), (None, Verdict.DOUBTFUL)):
        monkeypatch.setattr(shutil, "which", lambda _name, git=git: git)
        found = finding(tmp_path)
        assert found is not None
        assert found.verdict is verdict
