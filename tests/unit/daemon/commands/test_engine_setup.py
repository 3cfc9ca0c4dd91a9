"""vLLM's environment, as far as it can be judged without building one; `make engine-setup` builds it."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from aeond.daemon.commands import engine_setup
from aeond.daemon.commands.engine_setup import BUILT, ON_CPU, ON_GPU, Recipe, fetch_embedding, set_up
from aeond.daemon.compose import native_engine
from aeond.daemon.exits import Exit
from aeond.errors import LLMError
from tests.support.outsiders import as_outsider, open_folder


def test_a_current_environment_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An environment that was built from this very list is ready at once."""
    (tmp_path / BUILT).write_text(engine_setup.mark_of(ON_CPU))
    assert set_up(tmp_path, cpu=True, again=False) is Exit.OK
    assert "ready" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == [BUILT]


def test_a_full_disk_is_reported_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too little room is an error with the figures, and no half environment is made."""
    huge = Recipe("for giants", ON_CPU.list_file, complete=True, gibibytes=1e9)
    monkeypatch.setattr(engine_setup, "ON_CPU", huge)
    assert set_up(tmp_path / "env", cpu=True, again=False) is Exit.PROBLEM
    assert "too little disk space" in capsys.readouterr().err
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


def test_an_environment_that_was_left_unfinished_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where python3-venv was missing at the first attempt the next one begins with the environment again."""
    done: list[Sequence[str]] = []

    def run(command: Sequence[str], _environment: dict[str, str], *, quiet: bool = False) -> int:
        done.append(command)
        return 1  # no network here

    listed = tmp_path / "list.txt"
    listed.write_text("torch==1")
    monkeypatch.setattr(engine_setup, "ON_CPU", Recipe("for none", listed, complete=False, gibibytes=0))
    monkeypatch.setattr(engine_setup, "run_shown", run)
    folder = tmp_path / "env"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    assert set_up(folder, cpu=True, again=False) is Exit.PROBLEM
    assert [command[1:] for command in done] == [["-m", "venv", str(folder)]]
    (folder / "lib" / "python3.11" / "site-packages" / "pip").mkdir(parents=True)
    assert set_up(folder, cpu=True, again=False) is Exit.PROBLEM
    assert "torch==1" in done[1]
    assert "check network" in capsys.readouterr().err


def test_a_file_in_the_place_of_the_environment_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place that cannot be used is a problem with what to do, and no trace."""
    monkeypatch.setattr(
        engine_setup, "ON_CPU", Recipe("for none", ON_CPU.list_file, complete=True, gibibytes=0)
    )
    (tmp_path / "env").touch()
    assert set_up(tmp_path / "env", cpu=True, again=False) is Exit.PROBLEM
    assert "choose another folder with --path" in capsys.readouterr().err


def test_a_folder_of_others_is_judged_from_above() -> None:
    """Below a folder that this user cannot look into the room is measured at that folder."""
    with open_folder() as home:
        (home / "other").mkdir()
        with as_outsider(home / "other"):
            assert engine_setup.room_problem(home / "other" / "engine", 0) == ""


class ToldFiles:
    """Shows three steps of progress, then gives both paths or fails."""

    def __init__(self, *, reachable: bool) -> None:
        self._reachable = reachable

    async def fetch(self, on_progress: Callable[[str, float], None]) -> tuple[Path, Path]:
        for done in (0.5, 0.51, 1.0):
            on_progress("downloading", done)
        if not self._reachable:
            raise LLMError("no line", reason="MODEL_UNAVAILABLE")
        return Path("weights"), Path("words")


@pytest.mark.parametrize("reachable", [True, False])
def test_the_embedding_model_is_fetched_with_progress(
    capsys: pytest.CaptureFixture[str], *, reachable: bool
) -> None:
    """Each tenth of the way is a line; a failure is shown as that of something optional."""
    fetch_embedding(ToldFiles(reachable=reachable).fetch)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Embedding model: downloading 50%", "Embedding model: downloading 100%"]
    assert ("weights" in lines[2]) is reachable
    assert ("optional" in lines[2]) is not reachable


def test_a_native_build_that_fits_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A build for this processor and version is ready at once."""
    native_engine.write_mark(tmp_path)
    assert engine_setup.set_up_native(tmp_path, (), again=False) is Exit.OK
    assert "ready" in capsys.readouterr().out


def test_a_native_build_that_fails_leaves_the_wheel_in_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the compiler fails, or what it made does not work, no record is written, so the wheel is used."""
    monkeypatch.setattr(native_engine, "missing_tools", tuple)
    for failing in ("build", "check"):
        codes = {"build": 0, "check": 0} | {failing: 1}
        monkeypatch.setattr(native_engine, "build_command", lambda _f, c=codes: program(c["build"]))
        monkeypatch.setattr(native_engine, "check_command", lambda _f, _m, c=codes: program(c["check"]))
        assert engine_setup.set_up_native(tmp_path, (), again=True) is Exit.PROBLEM
        assert not native_engine.usable(tmp_path)
        assert "keeps using the installed build" in capsys.readouterr().err


def test_a_native_build_shows_its_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each tenth of the build is printed, and the record is written at the end."""
    monkeypatch.setattr(native_engine, "missing_tools", tuple)
    lines = "".join(f"[{percent:3}%] Building CXX object a{percent}.o\\n" for percent in (0, 4, 12, 15, 99))
    monkeypatch.setattr(native_engine, "build_command", lambda _folder: program(0, f"print('''{lines}''')"))
    monkeypatch.setattr(native_engine, "check_command", lambda _folder, _models: program(0))
    assert engine_setup.set_up_native(tmp_path, (), again=False) is Exit.OK
    shown = [line.split("%")[0].strip(" [") for line in capsys.readouterr().out.splitlines() if "%" in line]
    assert shown == ["0", "12", "99"]
    assert native_engine.usable(tmp_path)


def test_a_native_build_names_the_packages_that_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a compiler nothing is downloaded, and the Debian packages are named."""
    monkeypatch.setattr(native_engine, "missing_tools", lambda: ("cmake", "g++"))
    assert engine_setup.set_up_native(tmp_path, (), again=False) is Exit.PROBLEM
    assert "apt-get install cmake g++" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def program(code: int, text: str = "") -> list[str]:
    """A program that ends with this code."""
    return [sys.executable, "-c", f"{text}\nraise SystemExit({code})"]
