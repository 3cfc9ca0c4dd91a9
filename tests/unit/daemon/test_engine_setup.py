"""vLLM's environment, as far as it can be judged without building one; `make engine-setup` builds it."""

from pathlib import Path

import pytest

from aeond.daemon import engine_setup
from aeond.daemon.engine_setup import BUILT, ON_CPU, ON_GPU, Recipe, set_up
from aeond.daemon.exits import Exit


def test_what_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An environment that was built from this very list is ready at once."""
    (tmp_path / BUILT).write_text(engine_setup.mark_of(ON_CPU))
    assert set_up(tmp_path, cpu=True, again=False) is Exit.OK
    assert "ready" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == [BUILT]


def test_a_full_disk_is_told_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too little room is an error with the figures, and no half environment is made."""
    huge = Recipe("for giants", ON_CPU.list_file, complete=True, gibibytes=1e9)
    monkeypatch.setattr(engine_setup, "ON_CPU", huge)
    assert set_up(tmp_path / "env", cpu=True, again=False) is Exit.PROBLEM
    assert "too little room for vLLM" in capsys.readouterr().err
    assert not (tmp_path / "env").exists()


def test_every_package_has_its_version() -> None:
    """Both lists pin each package that they name, once."""
    for recipe in (ON_CPU, ON_GPU):
        names = []
        for line in engine_setup.packages_in(recipe.list_file):
            name, equals, version = line.partition("==")
            assert equals, line
            assert version, line
            names.append(name.lower())
        assert len(names) == len(set(names))
