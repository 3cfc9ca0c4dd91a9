"""The section of the configuration about vLLM."""

from enum import StrEnum

from pydantic import Field

from aeond.daemon.config_types import PathText, Section


class VllmDevice(StrEnum):
    """What vLLM computes on."""

    AUTO = "auto"  # a GPU where there is a driver for one
    GPU = "gpu"
    CPU = "cpu"


class VllmDtype(StrEnum):
    """The numbers that it computes in."""

    AUTO = "auto"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class VllmSection(Section):
    """vLLM, where model.engine is vllm. Context, requests at once and threads are those of model."""

    environment: PathText = Field(
        "",
        description="Folder of the Python environment that vLLM is installed in, which aeond engine-setup makes. "
        "Empty: /opt/aeond-engine for root and system services, ~/.local/share/aeond/engine for everybody else; in a "
        "checkout the one that make engine-setup made.",
    )
    device: VllmDevice = Field(
        VllmDevice.AUTO,
        description="What it computes on: gpu, cpu, or auto: a GPU where there is a driver for one.",
    )
    dtype: VllmDtype = Field(
        VllmDtype.AUTO,
        description="The numbers that it computes in: auto (as the model says), bfloat16, float16 or float32. Only "
        "float32 gives the same greedy answer however requests happen to be batched.",
    )
    tensor_parallel: int = Field(
        1, ge=1, le=64, description="Over how many GPUs each layer is split: those of one machine, at best."
    )
    pipeline_parallel: int = Field(
        1,
        ge=1,
        le=64,
        description="Into how many groups of layers, each on GPUs of its own, the model is split.",
    )
    data_parallel: int = Field(
        1, ge=1, le=64, description="How many copies of the model share the requests, each with its own GPUs."
    )
    ray: bool = Field(
        False,
        description="Whether its workers are started by Ray, as they are on several machines. The Ray cluster is "
        "yours to start, and ray to be installed in the environment.",
    )
    gpu_memory_utilization: float = Field(
        0.9, gt=0, le=1, description="The share of a GPU's memory that it may use, weights included."
    )
    kv_cache_gib: float = Field(
        0.0,
        ge=0,
        le=4096,
        description="Memory in GiB for what prompts and answers take beside the weights. 0: on a GPU what the share "
        "leaves, on a CPU 1.",
    )
    enforce_eager: bool = Field(
        False,
        description="Whether nothing is compiled when it starts: ready sooner, slower after that on a GPU.",
    )
    start_seconds: float = Field(
        600.0,
        ge=10,
        le=86_400,
        description="How long it may start without a sign of progress before it is started again.",
    )
    arguments: tuple[str, ...] = Field(
        (),
        description="More arguments of `vllm serve`, each a text of its own; they come last and win over ours.",
    )
