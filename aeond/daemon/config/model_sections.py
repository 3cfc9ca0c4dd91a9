"""The configuration sections for models: which model, which engine, and where it runs."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from aeond.daemon.config.section import PathText, Section, UrlText


class EngineKind(StrEnum):
    """The engine that generates text."""

    LLAMA_CPP = "llama_cpp"  # the embedded engine, in a separate process
    VLLM = "vllm"  # vLLM, in a separate environment and process
    REMOTE = "remote"  # a server that is not managed by the daemon
    SCRIPTED = "scripted"  # answers from a file, for tests


class AdapterSection(Section):
    """A LoRA adapter of a model."""

    name: str = Field(min_length=1, max_length=200, description="Its name in requests.")
    base: str = Field(min_length=1, max_length=200, description="The model of the catalogue that it adapts.")
    path: PathText = Field(min_length=1, description="Its folder, with adapter_config.json and the weights.")


class ModelSection(Section):
    """The model and the engine that runs it."""

    engine: EngineKind = Field(
        EngineKind.LLAMA_CPP,
        description="The engine that generates text: llama_cpp, the embedded engine in a separate"
        " process; vllm, vLLM in a separate environment, for GPUs or CPUs; remote, the"
        " server of the section remote; scripted, answers from a script, for tests.",
    )
    name: str = Field("", max_length=200, description="A model of the catalogue. Empty: its default model.")
    file: PathText = Field(
        "",
        description="A GGUF file of your own instead of a model of the catalogue, or for vllm a folder"
        " of safetensors; its name is `own`.",
    )
    tool_parser: str = Field(
        "",
        max_length=100,
        description="How this model's own tool calls are read: for vllm the name of a parser, such as hermes; for"
        " llama_cpp any name, because its chat template says how. Empty: as the catalogue says. none: the"
        " model chooses actions as JSON under a schema, as models without native tool calls do.",
    )
    chat_template: PathText = Field(
        "", description="A chat template (Jinja) to use instead of this model's own. Empty: none."
    )
    native_build: PathText = Field(
        "",
        description="Folder with llama.cpp built for this processor by aeond engine-setup --native; used if it"
        " has a build for this processor and version. Empty: /opt/aeond-llama for root and system services,"
        " ~/.local/share/aeond/llama for other users.",
    )
    models_dir: PathText = Field(
        "",
        description="Folder for models. Empty: /var/lib/aeond/models for root and system services,"
        " ~/.cache/aeond/models for other users.",
    )
    hub_url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^(https?://.*)?$",
        description="Address of a model hub, which is tried before the package mirrors. Empty: none.",
    )
    hub_credential: str = Field(
        "",
        max_length=255,
        description="Name of the systemd credential with the hub's access token. Empty: none.",
    )
    hub_token_file: PathText = Field(
        "",
        description="File with the hub's access token if there is no credential; only its owner may"
        " have read permission.",
    )
    load_at_start: bool = Field(
        True, description="Whether the model is loaded when the daemon starts, or with the first request."
    )
    context_tokens: int = Field(
        8192,
        ge=512,
        le=1_048_576,
        description="Context size of each request in tokens, prompt and answer together.",
    )
    parallel_requests: int = Field(
        4,
        ge=1,
        le=64,
        description="Number of requests that the engine processes at the same time; each has its"
        " own context.",
    )
    threads: int = Field(
        0,
        ge=0,
        le=1024,
        description="Threads of the engine. 0: one per core; for vLLM without a GPU, one fewer.",
    )
    busy_seconds: float = Field(
        1.5,
        ge=0.02,
        le=10,
        description="Approximate duration of one batch of a prompt. A cancelled request frees the engine, and other"
        " requests have their turn, after the current batch. llama_cpp reads at least 32 tokens per batch.",
    )
    read_ahead: bool = Field(
        True,
        description="Whether the common beginnings of prompts are read as soon as the model is ready"
        " and idle, and stored below the state folder for the next start (some tens of"
        " megabytes each, at most 40; llama_cpp only).",
    )
    adapters: tuple[AdapterSection, ...] = Field(
        (),
        max_length=64,
        description="LoRA adapters, for engine vllm only:"
        ' [{name = "NAME", base = "MODEL", path = "FOLDER"}]. Requests select one by its'
        " name like a model.",
    )
    turn_seconds: float = Field(
        60.0,
        ge=0,
        le=3_600,
        description="How long a model in use continues to be used while requests wait for another one.",
    )
    sleep_after_seconds: float = Field(
        900.0,
        ge=0,
        le=1e9,
        description="Seconds without a request after which the engine frees its memory, keeping its"
        " process if possible. The next request wakes it. 0: never.",
    )
    unload_after_seconds: float = Field(
        3_600.0,
        ge=0,
        le=1e9,
        description="Seconds without a request after which the engine's process is stopped. 0: never.",
    )
    yields_memory: bool = Field(
        True,
        description="Whether an idle engine frees its memory as soon as this machine runs short of it.",
    )
    gpu_free_mib: int = Field(
        1_024,
        ge=0,
        le=1_048_576,
        description="The same for a GPU: free the memory when other programs leave less than this"
        " available, in MiB. 0: never.",
    )
    script: PathText = Field("", description="The scripted engine's script, a TOML or JSON file.")

    @model_validator(mode="after")
    def _adapters_fit(self) -> Self:
        if self.adapters and self.engine is not EngineKind.VLLM:
            raise ValueError(
                f'LoRA adapters (model.adapters) need engine = "vllm": {self.engine} cannot switch them'
                " per request"
            )
        return self

    @property
    def reads_ahead(self) -> bool:
        """Whether prompts are warmed up: the engine supports it and the option is set."""
        return self.read_ahead and self.engine is EngineKind.LLAMA_CPP


class EmbeddingSection(Section):
    """Comparing texts by meaning: an optional small model, all-MiniLM-L6-v2 (83 MB to download)."""

    enabled: bool = Field(
        True,
        description="Whether texts are compared by meaning. Without it, or its file, words are compared.",
    )
    fetch: bool = Field(
        True,
        description="Whether a daemon that loads its model at start also downloads this one, once, if it is missing.",
    )
    unload_after_seconds: float = Field(
        300.0,
        ge=1,
        le=1e9,
        description="After how many seconds without use its memory (60 MB) is given back.",
    )


class EngineRun(StrEnum):
    """How the engine's process is started."""

    AUTO = "auto"  # unit if systemd provides it, else child
    CHILD = "child"
    UNIT = "unit"


class EngineSection(Section):
    """The process of the engine."""

    run: EngineRun = Field(
        EngineRun.AUTO,
        description="How the engine's process is started: child, by the daemon itself; unit, as"
        " aeond-engine.service, which systemd isolates from the daemon; auto, unit if its"
        " socket exists.",
    )


class RemoteKind(StrEnum):
    """The server program, as far as the differences matter."""

    AUTO = "auto"  # detected from the server
    LLAMA_CPP = "llama_cpp"
    VLLM = "vllm"
    OPENAI = "openai"  # any other program


class ToolCalls(StrEnum):
    """Whether a server's native tool calls are used."""

    AUTO = "auto"  # if the model does so in a probe
    ON = "on"
    OFF = "off"


class RemoteSection(Section):
    """A server with an OpenAI-compatible interface, for `model.engine = "remote"`."""

    url: UrlText = Field(
        "",
        max_length=500,
        pattern=r"^((https?://|unix:/).*)?$",
        description="Address of the server: https://HOST[:PORT][/PATH], http://HOST[:PORT][/PATH] or unix:/PATH.",
    )
    model: str = Field(
        "", max_length=200, description="Model to use. Empty: the first that the server lists."
    )
    kind: RemoteKind = Field(
        RemoteKind.AUTO,
        description="Server program: auto, detect it; llama_cpp; vllm; openai, any other. Determines"
        " how schemas are sent and whether tokens can be counted in advance.",
    )
    key_credential: str = Field(
        "", max_length=255, description="Name of the systemd credential with the API key. Empty: none."
    )
    key_file: PathText = Field(
        "",
        description="File with the API key if there is no credential; only its owner may have read"
        " permission.",
    )
    ca_file: PathText = Field(
        "",
        description="File with trusted certificates in PEM format, instead of the system's.",
    )
    allow_plain_http: bool = Field(
        False,
        description="Whether http:// may be used for another machine. The connection is not encrypted.",
    )
    context_tokens: int = Field(
        0,
        ge=0,
        le=16_777_216,
        description="Context size of the model in tokens. 0: as reported by the server, or 8192 if it"
        " reports none.",
    )
    schemas: bool = Field(
        True,
        description="Whether the server is asked to enforce JSON schemas. Answers are validated in any case.",
    )
    tool_calls: ToolCalls = Field(
        ToolCalls.AUTO,
        description="Whether the model chooses actions by the server's native tool calls: auto, if it answers a"
        " short request for a call with one; on; off, as JSON under a schema.",
    )
