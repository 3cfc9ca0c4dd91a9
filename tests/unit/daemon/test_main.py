"""The command `aeond`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aeond import __version__
from aeond.daemon.config import files
from aeond.daemon.exits import Exit
from aeond.daemon.main import main
from aeond.errors import StoreError


def test_the_version_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """`aeond --version` prints the version and ends with 0."""
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == Exit.OK
    assert capsys.readouterr().out == f"aeond {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["fly"], ["serve", "--fast"]])
def test_a_wrong_command_line_is_reported(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A command line that means nothing ends with 2 and says what there is."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == Exit.CONFIG
    assert "usage: aeond" in capsys.readouterr().err


def test_the_help_lists_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """The help lists every exit code."""
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert all(f"  {code.value:<3} " in shown for code in Exit)


def test_an_error_does_not_control_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences in the error of a tool file, or in a key of the configuration, are printed as escapes."""
    file = tmp_path / "aeond.toml"
    file.write_text('"\\u001b[2Jclear" = 1\n', encoding="utf-8")
    assert main(["check-config", str(file)]) == Exit.CONFIG
    shown = capsys.readouterr().err
    assert r"\x1b[2Jclear" in shown
    assert "\x1b" not in shown


def test_an_expected_error_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error with a known cause ends with its exit code and its message, and no trace."""

    def refuse(path: Path, *, required: bool) -> None:
        raise ExceptionGroup("tasks", [StoreError(f"{path} is broken", reason="JOURNAL_CORRUPT")])

    monkeypatch.setattr(files, "load_config", refuse)
    assert main(["check-config", str(tmp_path)]) == Exit.JOURNAL
    assert capsys.readouterr().err == f"aeond: {tmp_path} is broken\n"


def test_a_bug_leaves_its_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected error exits with 70 and prints the traceback."""

    def break_down(path: Path, *, required: bool) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(files, "load_config", break_down)
    assert main(["check-config", str(tmp_path)]) == Exit.BUG
    shown = capsys.readouterr().err
    assert "ZeroDivisionError" in shown
    assert "report it" in shown


def test_a_right_configuration_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`aeond check-config` accepts what `--defaults` prints."""
    assert main(["check-config", "--defaults"]) == Exit.OK
    file = tmp_path / "aeond.toml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["check-config", str(file)]) == Exit.OK


def test_a_reader_who_has_read_enough_is_no_bug() -> None:
    """When what reads the output goes away, as `head` does, the command ends quietly and with 0."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "aeond.daemon.main", "check-config", "--defaults"]
    with os.fdopen(writing, "wb") as output:
        ended = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (Exit.OK, b"")


@pytest.mark.parametrize(("argument", "code"), [("--version", Exit.OK), ("fly", Exit.CONFIG)])
def test_the_process_ends_without_finalizing_the_interpreter(argument: str, code: Exit) -> None:
    """The entry point flushes its output and ends with its exit code, without finalizing the interpreter."""
    script = (
        "import atexit, sys; atexit.register(print, 'finalized');"
        f" sys.argv = ['aeond', {argument!r}]; from aeond.daemon.main import program; program()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == code
    assert ended.stdout == (f"aeond {__version__}\n" if code is Exit.OK else "")
