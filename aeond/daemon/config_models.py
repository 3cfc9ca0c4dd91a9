"""The sections of the configuration about models: which one, what runs it, and where."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from aeond.daemon.config_types import PathText, Section, UrlText


class EngineKind(StrEnum):
    """What generates text."""

    LLAMA_CPP = "llama_cpp"  # the embedded engine, in a process of its own
    VLLM = "vllm"  # vLLM, in an environment and a process of its own
    REMOTE = "remote"  # a server that somebody else runs
    SCRIPTED = "scripted"  # answers from a file, for tests


class AdapterSection(Section):
    """A LoRA adapter of a model."""

    name: str = Field(min_length=1, max_length=200, description="How requests name it.")
    base: str = Field(min_length=1, max_length=200, description="The model of the catalogue that it adapts.")
    path: PathText = Field(min_length=1, description="Its folder: adapter_config.json and its weights.")


class ModelSection(Section):
    """The model and the engine that runs it."""

    engine: EngineKind = Field(
        EngineKind.LLAMA_CPP,
        description="What generates text: llama_cpp is the embedded engine in a process of its own; vllm is vLLM "
        "in an environment of its own, for GPUs or CPUs; remote is the server of the section remote; scripted answers from a script and is for tests.",
    )
    name: str = Field("", max_length=200, description="A model of the catalogue. Empty: its default.")
    file: PathText = Field(
        "",
        description="A GGUF file of your own in place of a model of the catalogue, or for vllm a folder of "
        "safetensors; it is named `own`.",
    )
    models_dir: PathText = Field(
        "",
        description="Folder where models are kept. Empty: /var/lib/aeond/models for root and system services, "
        "~/.cache/aeond/models for everybody else.",
    )
    hub_url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^(https?://.*)?$",
        description="Address of a model hub to get models from, asked before the package mirrors. Empty: none.",
    )
    hub_credential: str = Field(
        "",
        max_length=255,
        description="Name of the systemd credential that holds the hub's access token. Empty: none.",
    )
    hub_token_file: PathText = Field(
        "",
        description="File with the hub's access token where there is no credential; only its owner may read it.",
    )
    load_at_start: bool = Field(
        True, description="Whether the model is loaded when the daemon starts, or with the first request."
    )
    context_tokens: int = Field(
        8192,
        ge=512,
        le=1_048_576,
        description="Tokens of context for each request, prompt and answer together.",
    )
    parallel_requests: int = Field(
        4, ge=1, le=64, description="How many requests the engine answers at once; each has its own context."
    )
    threads: int = Field(
        0,
        ge=0,
        le=1024,
        description="Threads of the engine. 0: one per core; for vLLM without a GPU one per core but one.",
    )
    busy_seconds: float = Field(
        0.1,
        ge=0.02,
        le=10,
        description="About how long a request that is cancelled while its prompt is read may keep the engine "
        "busy. Longer reads prompts faster where the machine is slow.",
    )
    read_ahead: bool = Field(
        True,
        description="Whether what most prompts begin with is read as soon as the model is ready and nobody waits, "
        "and kept below the state folder for the next start (some tens of megabytes each, four at most; llama_cpp only).",
    )
    adapters: tuple[AdapterSection, ...] = Field(
        (),
        max_length=64,
        description='LoRA adapters, for engine vllm only: [{name = "NAME", base = "MODEL", path = "FOLDER"}]. '
        "Requests name one as they name a model.",
    )
    turn_seconds: float = Field(
        60.0,
        ge=0,
        le=3_600,
        description="How long a model that is being used goes on being used while requests wait for another one.",
    )
    sleep_after_seconds: float = Field(
        900.0,
        ge=0,
        le=1e9,
        description="After how many seconds without a request the engine gives its memory back, keeping its process "
        "where that is possible. The next request wakes it. 0: never.",
    )
    unload_after_seconds: float = Field(
        3_600.0,
        ge=0,
        le=1e9,
        description="After how many seconds without a request the engine is ended altogether. 0: never.",
    )
    yields_memory: bool = Field(
        True,
        description="Whether an engine that nobody is using gives its memory back as soon as this machine runs "
        "short of it.",
    )
    gpu_free_mib: int = Field(
        1_024,
        ge=0,
        le=1_048_576,
        description="The same for a GPU: when less than this is left free, in MiB, because other programs came to "
        "want it. 0: never.",
    )
    script: PathText = Field("", description="The scripted engine's script, a TOML or JSON file.")

    @model_validator(mode="after")
    def _adapters_fit(self) -> Self:
        if self.adapters and self.engine is not EngineKind.VLLM:
            raise ValueError(
                f'LoRA adapters (adapters) need engine = "vllm": {self.engine} cannot change them by request'
            )
        return self

    @property
    def reads_ahead(self) -> bool:
        """Whether there is an engine that is worth the trouble, and it is wanted."""
        return self.read_ahead and self.engine is EngineKind.LLAMA_CPP


class EngineRun(StrEnum):
    """Where the engine's process is."""

    AUTO = "auto"  # unit where systemd offers it, else child
    CHILD = "child"
    UNIT = "unit"


class EngineSection(Section):
    """Where the model's engine runs."""

    run: EngineRun = Field(
        EngineRun.AUTO,
        description="How its process is started: child, by the daemon itself; unit, as aeond-engine.service, which "
        "systemd keeps apart from the daemon; auto, unit where its socket is there.",
    )


class RemoteKind(StrEnum):
    """Which program a remote server is, as far as that makes a difference."""

    AUTO = "auto"  # what the server says of itself
    LLAMA_CPP = "llama_cpp"
    VLLM = "vllm"
    OPENAI = "openai"  # any other


class RemoteSection(Section):
    """A server with an OpenAI-compatible interface, for `model.engine = "remote"`."""

    url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^((https?://|unix:/).*)?$",
        description="Where it is: https://HOST[:PORT][/PATH], http:// the same, or unix:/PATH.",
    )
    model: str = Field(
        "", max_length=200, description="Which of its models to ask. Empty: the first that it lists."
    )
    kind: RemoteKind = Field(
        RemoteKind.AUTO,
        description="Which program it is: auto, what it says of itself; llama_cpp; vllm; openai, any other. It "
        "decides how schemas are named and whether tokens can be counted beforehand.",
    )
    key_credential: str = Field(
        "", max_length=255, description="Name of the systemd credential that holds its key. Empty: none."
    )
    key_file: PathText = Field(
        "", description="File with its key where there is no credential; only its owner may read it."
    )
    ca_file: PathText = Field(
        "",
        description="File with the certificates that may sign for it, in PEM form, in place of the system's.",
    )
    allow_plain_http: bool = Field(
        False,
        description="Whether http:// may lead to another machine, with all that is said readable on the way.",
    )
    context_tokens: int = Field(
        0,
        ge=0,
        le=16_777_216,
        description="Its model's context in tokens. 0: what the server says, or 8192 where it does not.",
    )
    schemas: bool = Field(
        True, description="Whether it is asked to keep to JSON schemas. Answers are checked all the same."
    )
