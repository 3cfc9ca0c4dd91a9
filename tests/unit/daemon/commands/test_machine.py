"""The memory and the units of this machine."""

from pathlib import Path

import pytest

from aeond.daemon.commands.machine import Gpu, memory_mib, nvidia_gpus, unit_settings


def test_the_main_memory_is_read() -> None:
    """The total is above what is available, and an unknown field has no size."""
    total, available = memory_mib("MemTotal"), memory_mib("MemAvailable")
    assert total is not None
    assert available is not None
    assert total > available > 0
    assert memory_mib("NoSuchField") is None


def test_gpus_are_those_that_nvidias_tool_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of the tool is a GPU, also where its name has a comma; without the tool there is none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert nvidia_gpus() == ()
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA H200, 140000, 143771'\necho 'One, Two, 1, 2'\n")
    tool.chmod(0o755)
    assert nvidia_gpus() == (Gpu("NVIDIA H200", 140_000, 143_771), Gpu("One, Two", 1, 2))


def test_a_unit_has_the_settings_that_systemd_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of the answer is a setting; without the tool, the unit or an answer there is none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unit_settings("a.service", ["User"]) == {}
    tool = tmp_path / "systemctl"
    tool.write_text('#!/bin/sh\necho LoadState=loaded\necho "Asked=$*"\n')
    tool.chmod(0o755)
    asked = "show a.service --property=LoadState,User,Group"
    assert unit_settings("a.service", ["User", "Group"]) == {"LoadState": "loaded", "Asked": asked}
    tool.write_text("#!/bin/sh\necho LoadState=not-found\n")
    assert unit_settings("a.service", ["User"]) == {}
    tool.write_text("#!/bin/sh\nexit 1\n")
    assert unit_settings("a.service", ["User"]) == {}
