"""The configuration section for vLLM."""

from enum import StrEnum

from pydantic import Field

from aeond.daemon.config.section import PathText, Section


class VllmDevice(StrEnum):
    """The device that vLLM uses."""

    AUTO = "auto"  # a GPU if its driver is present
    GPU = "gpu"
    CPU = "cpu"


class VllmDtype(StrEnum):
    """The number format of computations."""

    AUTO = "auto"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class VllmSection(Section):
    """vLLM, if model.engine is vllm. Section model sets context size, concurrency and threads."""

    environment: PathText = Field(
        "",
        description="Folder of the Python environment with vLLM, created by aeond engine-setup. Empty:"
        " /opt/aeond-engine for root and system services, ~/.local/share/aeond/engine for"
        " other users; in a checkout, the one created by make engine-setup.",
    )
    device: VllmDevice = Field(
        VllmDevice.AUTO,
        description="Device: gpu, cpu, or auto: a GPU if its driver is present.",
    )
    dtype: VllmDtype = Field(
        VllmDtype.AUTO,
        description="Number format: auto (as the model specifies), bfloat16, float16 or float32. Only"
        " float32 gives the same greedy answer regardless of batching.",
    )
    tensor_parallel: int = Field(
        1,
        ge=1,
        le=64,
        description="Number of GPUs across which each layer is split, preferably of one machine.",
    )
    pipeline_parallel: int = Field(
        1,
        ge=1,
        le=64,
        description="Number of groups of layers, each on separate GPUs, into which the model is split.",
    )
    data_parallel: int = Field(
        1,
        ge=1,
        le=64,
        description="Number of copies of the model that share the requests, each with its own GPUs.",
    )
    ray: bool = Field(
        False,
        description="Whether Ray starts the workers, as is needed for several machines. You start the"
        " Ray cluster and install ray in the environment.",
    )
    gpu_memory_utilization: float = Field(
        0.9, gt=0, le=1, description="Share of a GPU's memory that vLLM may use, weights included."
    )
    kv_cache_gib: float = Field(
        0.0,
        ge=0,
        le=4096,
        description="Memory in GiB for the KV cache, besides the weights. 0: on a GPU the rest of the"
        " share, on a CPU 1.",
    )
    enforce_eager: bool = Field(
        False,
        description="Whether to skip compilation at the start: ready sooner, but slower afterwards on a GPU.",
    )
    start_seconds: float = Field(
        600.0,
        ge=10,
        le=86_400,
        description="How long a start may show no progress before it is repeated.",
    )
    arguments: tuple[str, ...] = Field(
        (),
        description="Additional arguments of `vllm serve`, one string each; they come last and override"
        " ours.",
    )
