"""vLLM as the program of a supervised engine: its own server, in its own environment, on a Unix socket."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aeond.capabilities.llm.adapters.dialects import VllmDialect
from aeond.capabilities.llm.adapters.requests import MAX_STOPS
from aeond.capabilities.llm.engine.interface import EngineProgram, ModelFiles
from aeond.capabilities.llm.engine.process import clean_environment
from aeond.capabilities.llm.engine.supervision_rules import Supervision
from aeond.capabilities.llm.engine.supervisor import EngineSupervisor
from aeond.capabilities.llm.engine.systemd_unit import Start, as_child
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.models.catalogue import Catalogue, CatalogueEntry
from aeond.capabilities.llm.models.store import ShowProgress
from aeond.capabilities.llm.vllm import launcher
from aeond.errors import LLMError
from aeond.frozen import frozen
from aeond.ports import Clock
from aeond.private_folders import make_private

LAUNCHER = Path(launcher.__file__)
# vLLM's processes talk over sockets in the folder of temporary files, each with a name of 36 characters.
MAX_TEMPORARY_PATH = 107 - 37
CPU_BLOCK = 32  # tokens: twice the usual, for less is computed again of a prompt that is known
# The part of the time for which a cancel may keep a CPU busy that a step is meant to last: no two of the same size take
# quite the same time, and the word of a cancel has a way to go.
STEP_SHARE = 0.6
# What the machine says of its GPUs and its network, where several are to work together.
PASSED_ON = ("CUDA_", "NVIDIA_", "NCCL_", "GLOO_", "RAY_", "VLLM_HOST_IP", "LD_LIBRARY_PATH", "PATH")
CONSTRAINED = {"backend": "guidance", "disable_any_whitespace": True}


@frozen
class VllmSettings(Supervision):
    """How the engine runs. `load_seconds` is how long it may start without a sign of progress.

    `slots` requests are worked on at once; `kv_cache_gib` is the room for what they and earlier prompts have read
    (0: on a GPU what `gpu_memory_utilization` leaves, else 1). `threads` 0 is, on a CPU, one per core but one: the server
    has work too, and threads that wait for one that must wait for its core are slower than fewer. `busy_seconds` is how
    long a cancel may keep a CPU at work. `arguments` are added to the command line of `vllm serve` as they are.
    """

    load_seconds: float = 600.0
    stall_seconds: float = 30.0
    gpu: bool = False
    slots: int = 16
    threads: int = 0
    busy_seconds: float = 1.5
    dtype: str = "auto"
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    data_parallel: int = 1
    ray: bool = False
    gpu_memory_utilization: float = 0.9
    kv_cache_gib: float = 0.0
    enforce_eager: bool = False
    arguments: tuple[str, ...] = ()
    lora_rank: int = 0  # of the largest LoRA adapter that may be loaded; 0: none is


@dataclass(slots=True)
class VllmResident:
    """One life of the server. `template_tokens` is the cost of a prompt beyond its text, None until measured."""

    client: OpenAIClient
    dialect: VllmDialect
    template_tokens: int | None = None


class VllmProgram(EngineProgram[VllmResident]):
    """The server of the environment whose interpreter is `python`. `cache` keeps what it learns about models."""

    def __init__(self, python: Path, cache: Path, settings: VllmSettings) -> None:
        self._python = python
        self._cache = cache
        self._settings = settings

    @property
    def environment(self) -> Mapping[str, str]:
        settings = self._settings
        passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        environment = passed | clean_environment()
        environment |= {
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(self._cache / "hub"),
            "TOKENIZERS_PARALLELISM": "false",
            # The first request that needs a part of torch waits until it is compiled: 7 s for the likeliest tokens, on
            # two cores. By default the result is below /tmp, which is empty after each start of a service that has its own.
            # vLLM sets another folder for what it compiles itself; here are some 450 KB, and files of older versions stay.
            "TORCHINDUCTOR_CACHE_DIR": str(self._cache / "inductor"),
            "VLLM_CACHE_ROOT": str(self._cache),
            "VLLM_DO_NOT_TRACK": "1",
            "VLLM_MAX_STOP_STRINGS": str(MAX_STOPS),
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_SERVER_DEV_MODE": "1",  # enables sleep, among others; only the daemon reaches the socket
            "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        }
        if not settings.ray:
            # Its parts listen for each other on ports, and where this machine's name leads they would by themselves.
            environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
        if settings.lora_rank:
            environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "1"
        if self._threads:
            environment["OMP_NUM_THREADS"] = str(self._threads)
        if not settings.gpu:
            environment["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"  # the cores are shared
            # What it compiled it keeps in a form that it cannot load on a CPU: it would compile at each start.
            environment["VLLM_USE_AOT_COMPILE"] = "0"
            if not self._is_spread:
                # Else a single worker is put into a process of its own on a CPU, which doubles the imports.
                environment["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        return environment

    @property
    def _threads(self) -> int:
        """Of each worker; 0: as many as it likes."""
        if self._settings.threads or self._settings.gpu:
            return self._settings.threads
        return max(1, (len(os.sched_getaffinity(0)) - 1) // self._workers)

    @property
    def _workers(self) -> int:
        settings = self._settings
        return settings.tensor_parallel * settings.pipeline_parallel * settings.data_parallel

    @property
    def _is_spread(self) -> bool:
        return self._workers > 1

    def command(self, entry: CatalogueEntry, path: Path, socket: Path, context_length: int) -> Sequence[str]:
        """Raises LLMError (reason PATH_TOO_LONG) when its processes could not talk to each other."""
        make_private(self._cache)
        temporary = socket.parent / "t"
        if len(os.fsencode(temporary)) > MAX_TEMPORARY_PATH:
            raise LLMError(
                f"The engine's folder has too long a path ({socket.parent}): choose a shorter runtime folder.",
                reason="PATH_TOO_LONG",
            )
        guard = [
            *(str(self._python), "-P", str(LAUNCHER), "--parent", str(os.getpid())),
            *("--guard", str(socket), "--temporary", str(temporary), "--"),
        ]
        return [*guard, "serve", str(path), *self._options(entry, socket, context_length)]

    def _options(self, entry: CatalogueEntry, socket: Path, context_length: int) -> list[str]:
        settings = self._settings
        options: dict[str, object] = {
            "--uds": socket,
            "--served-model-name": entry.name,
            "--max-model-len": context_length,
            "--max-num-seqs": settings.slots,
            "--dtype": settings.dtype,
            "--scheduling-policy": "priority",
            "--structured-outputs-config": json.dumps(CONSTRAINED),
            "--tensor-parallel-size": settings.tensor_parallel,
            "--pipeline-parallel-size": settings.pipeline_parallel,
            "--data-parallel-size": settings.data_parallel,
            "--uvicorn-log-level": "warning",
        }
        if settings.ray:
            options["--distributed-executor-backend"] = "ray"
        elif not self._is_spread:
            options["--distributed-executor-backend"] = "uni"
        gibibytes = settings.kv_cache_gib or (0.0 if settings.gpu else 1.0)
        if gibibytes:
            options["--kv-cache-memory-bytes"] = round(gibibytes * (1 << 30))
        if settings.gpu:
            options["--gpu-memory-utilization"] = settings.gpu_memory_utilization
        else:
            options["--block-size"] = CPU_BLOCK
            options["--scheduler-cls"] = "pacing.PacedScheduler"
            options["--additional-config"] = json.dumps({"step_seconds": STEP_SHARE * settings.busy_seconds})
        flags = ["--enable-prefix-caching", "--enable-prompt-tokens-details", "--disable-uvicorn-access-log"]
        if settings.enforce_eager:
            flags.append("--enforce-eager")
        if settings.gpu:
            flags.append("--enable-sleep-mode")
        if entry.tool_parser:
            flags += ["--enable-auto-tool-choice", "--tool-call-parser", entry.tool_parser]
        if entry.chat_template is not None:
            flags += ["--chat-template", str(entry.chat_template)]
        if settings.lora_rank:
            flags += ["--enable-lora", "--max-lora-rank", str(settings.lora_rank)]
        return [*(str(part) for option in options.items() for part in option), *flags, *settings.arguments]

    def resident(self, entry: CatalogueEntry, client: OpenAIClient, show: ShowProgress) -> VllmResident:
        return VllmResident(client, VllmDialect(entry.name, schemas=True))

    async def proves_alive(self, client: OpenAIClient) -> bool:
        """Whether it answers one token, ahead of all others; a long prompt is no hang."""
        name = json.loads(await client.get("/v1/models"))["data"][0]["id"]
        asked = {"model": name, "prompt": "1", "max_tokens": 1, "priority": -1}
        return "choices" in await client.post("/v1/completions", asked)

    async def sleep(self, client: OpenAIClient) -> bool:
        """On a CPU it would free nothing."""
        if self._settings.gpu:
            await client.act("/sleep?level=1")
        return self._settings.gpu

    async def wake(self, client: OpenAIClient) -> None:
        await client.act("/wake_up")


class VllmEngine(EngineSupervisor[VllmResident]):
    """A supervised vLLM."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: ModelFiles,
        folder: Path,
        clock: Clock,
        settings: VllmSettings,
        *,
        python: Path,
        cache: Path,
        start: Start = as_child,
    ) -> None:
        super().__init__(
            catalogue, store, folder, clock, settings, VllmProgram(python, cache, settings), start
        )
