"""The layers of the sandbox that a machine has."""

from pathlib import Path

import pytest

from aeond.daemon.compose.tooling import sandbox_layers
from aeond.daemon.compose.tooling.sandbox_layers import layers, why_no_programs
from aeond.daemon.config.schema import SandboxKind
from tests.support.bubblewrap import needs_bubblewrap


@needs_bubblewrap
def test_every_layer_is_named(tmp_path: Path) -> None:
    """Bubblewrap, control groups, the filter of system calls and Landlock are probed; a missing one has advice."""
    found = list(layers(SandboxKind.AUTO, tmp_path / "none.sock"))
    assert [layer.name for layer in found] == ["bubblewrap", "control groups", "system calls", "landlock"]
    assert all(layer.there or layer.advice for layer in found)
    assert [layer.there for layer in found if layer.essential] == [True, True]


def test_a_machine_without_bubblewrap_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing bubblewrap is reported with the command that installs it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    first = next(iter(layers(SandboxKind.AUTO, tmp_path / "none.sock")))
    assert (first.there, first.essential) == (False, True)
    assert "apt-get install bubblewrap" in first.advice


def test_a_bubblewrap_that_fails_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap that cannot make a sandbox here is reported with its last line."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'no namespaces' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    first = next(iter(layers(SandboxKind.AUTO, tmp_path / "none.sock")))
    assert (first.there, "no namespaces" in first.found) == (False, True)


def test_a_bubblewrap_that_hangs_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap that does not end, or cannot be executed, is reported and keeps no daemon from starting."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(sandbox_layers, "PROBE_SECONDS", 0.2)
    assert "did not end" in why_no_programs(SandboxKind.BWRAP, tmp_path / "none.sock")
    program.write_bytes(b"\0")
    assert "does not work here" in why_no_programs(SandboxKind.BWRAP, tmp_path / "none.sock")


def test_without_a_sandbox_no_tool_runs_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are run by a unit or by bubblewrap that works, and never without; the reason has a remedy."""
    (tmp_path / "tool.sock").touch()
    assert "tools.sandbox" in why_no_programs(SandboxKind.NONE, tmp_path / "tool.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    for kind in (SandboxKind.AUTO, SandboxKind.BWRAP):
        assert "apt-get install bubblewrap" in why_no_programs(kind, tmp_path / "none.sock")
    for kind in (SandboxKind.AUTO, SandboxKind.UNIT):
        assert why_no_programs(kind, tmp_path / "tool.sock") == ""


@needs_bubblewrap
def test_bubblewrap_runs_programs(tmp_path: Path) -> None:
    """A bubblewrap that works is enough."""
    assert why_no_programs(SandboxKind.AUTO, tmp_path / "none.sock") == ""


def test_a_unit_takes_the_place_of_bubblewrap(tmp_path: Path) -> None:
    """Where systemd starts a unit for each call, bubblewrap and control groups are not needed."""
    (tmp_path / "tool.sock").touch()
    assert next(iter(layers(SandboxKind.AUTO, tmp_path / "tool.sock"))).name == "unit"


def test_the_configured_sandbox_is_examined(tmp_path: Path) -> None:
    """With bubblewrap configured its layers are shown although there is a unit; a configured unit that is missing is
    essential and has a remedy.
    """
    (tmp_path / "tool.sock").touch()
    assert next(iter(layers(SandboxKind.BWRAP, tmp_path / "tool.sock"))).name == "bubblewrap"
    missing = next(iter(layers(SandboxKind.UNIT, tmp_path / "none.sock")))
    assert (missing.name, missing.there, missing.essential) == ("unit", False, True)
    assert "aeond-tool.socket" in missing.advice
