"""How vLLM is started: its command line and all that it knows of the environment."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import SMOLLM2_135M
from aeond.capabilities.llm.vllm.engine import LAUNCHER, VllmProgram, VllmSettings
from aeond.errors import LLMError


def program(tmp_path: Path, **settings: object) -> VllmProgram:
    return VllmProgram(Path("/env/bin/python"), tmp_path / "cache", VllmSettings(**settings))  # type: ignore[arg-type]  # keys of the test


def command(tmp_path: Path, **settings: object) -> list[str]:
    socket = Path("/run/engine/engine.sock")
    return list(program(tmp_path, **settings).command(SMOLLM2_135M, Path("/models/m"), socket, 4096))


def after(line: list[str], option: str) -> str:
    return line[line.index(option) + 1]


def test_the_guard_comes_first_and_the_server_behind_it(tmp_path: Path) -> None:
    """The environment's Python runs the launcher, which is given the socket and the server's own arguments."""
    line = command(tmp_path)
    assert line[:3] == ["/env/bin/python", "-P", str(LAUNCHER)]
    assert after(line, "--guard") == "/run/engine/engine.sock"
    assert line[line.index("--") + 1 :][:2] == ["serve", "/models/m"]
    assert after(line, "--max-model-len") == "4096"
    assert after(line, "--scheduling-policy") == "priority"


def test_a_cpu_and_a_gpu_are_asked_for_different_things(tmp_path: Path) -> None:
    """A CPU gets larger blocks, steps that keep to their time and a gibibyte for prompts; a GPU its share of memory and the
    means to sleep."""
    cpu, gpu = command(tmp_path), command(tmp_path, gpu=True, gpu_memory_utilization=0.5)
    assert after(cpu, "--block-size") == "32"
    assert after(cpu, "--kv-cache-memory-bytes") == str(1 << 30)
    assert after(cpu, "--scheduler-cls") == "pacing.PacedScheduler"
    assert json.loads(after(cpu, "--additional-config"))["step_seconds"] < VllmSettings().busy_seconds
    assert "--enable-sleep-mode" not in cpu
    assert after(gpu, "--gpu-memory-utilization") == "0.5"
    assert "--enable-sleep-mode" in gpu
    assert "--block-size" not in gpu
    assert "--scheduler-cls" not in gpu
    assert "--kv-cache-memory-bytes" not in gpu


def test_scaling_out_is_passed_through(tmp_path: Path) -> None:
    """Parallel sizes, Ray and arguments of one's own reach the server, the last of them last."""
    line = command(
        tmp_path, gpu=True, tensor_parallel=4, pipeline_parallel=2, ray=True, arguments=("--swap-space", "0")
    )
    assert after(line, "--tensor-parallel-size") == "4"
    assert after(line, "--pipeline-parallel-size") == "2"
    assert after(line, "--distributed-executor-backend") == "ray"
    assert line[-2:] == ["--swap-space", "0"]


def test_the_environment_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows what is said of GPUs and the network, and nothing else of ours."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    monkeypatch.setenv("PYTHONPATH", "/ours")
    known = program(tmp_path, threads=3).environment
    assert known["CUDA_VISIBLE_DEVICES"] == "1"
    assert known["OMP_NUM_THREADS"] == "3"
    assert known["HF_HUB_OFFLINE"] == "1"
    assert not {"SECRET_TOKEN", "PYTHONPATH", "HOME"} & set(known)


def test_what_torch_compiles_is_kept_with_the_engine(tmp_path: Path) -> None:
    """Compiled code is below the engine's private cache, where the next start of the engine finds it."""
    known = program(tmp_path).environment
    assert Path(known["TORCHINDUCTOR_CACHE_DIR"]).is_relative_to(known["VLLM_CACHE_ROOT"])


def test_one_core_is_left_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless threads are asked for, an engine without a GPU computes on all cores but one, which its workers share out; one
    with a GPU has what it likes."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(9)))

    def threads(**settings: object) -> str | None:
        return program(tmp_path, **settings).environment.get("OMP_NUM_THREADS")

    assert threads() == "8"
    assert threads(pipeline_parallel=2) == "4"
    assert threads(threads=2) == "2"
    assert threads(gpu=True) is None
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0})
    assert threads() == "1"


def test_its_parts_talk_on_this_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ports on which they listen for each other are on the loopback interface, unless several machines work
    together or the environment names another interface."""
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    assert program(tmp_path, tensor_parallel=2).environment["GLOO_SOCKET_IFNAME"] == "lo"
    assert "GLOO_SOCKET_IFNAME" not in program(tmp_path, ray=True).environment
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth1")
    assert program(tmp_path).environment["GLOO_SOCKET_IFNAME"] == "eth1"


def test_a_folder_that_is_too_deep_is_reported(tmp_path: Path) -> None:
    """Where vLLM's processes could not reach each other, that is said before anything is started."""
    deep = Path("/run") / ("x" * 80) / "engine.sock"
    with pytest.raises(LLMError) as refused:
        program(tmp_path).command(SMOLLM2_135M, Path("/m"), deep, 4096)
    assert refused.value.reason == "PATH_TOO_LONG"


def test_tool_calls_are_parsed_where_the_model_has_them(tmp_path: Path) -> None:
    """The parser and the chat template of the model are on the command line, and neither for a model without."""
    socket, model = Path("/run/engine/engine.sock"), Path("/models/m")
    plain = program(tmp_path).command(SMOLLM2_135M, model, socket, 4096)
    assert not {"--enable-auto-tool-choice", "--tool-call-parser", "--chat-template"} & set(plain)
    calling = replace(SMOLLM2_135M, tool_parser="hermes", chat_template=Path("/t.jinja"))
    line = list(program(tmp_path).command(calling, model, socket, 4096))
    assert "--enable-auto-tool-choice" in line
    assert (after(line, "--tool-call-parser"), after(line, "--chat-template")) == ("hermes", "/t.jinja")
