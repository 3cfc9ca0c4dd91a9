"""An engine as the daemon opens and shares it, in a separate folder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.models import opened_models
from aeond.daemon.config.model_sections import EngineKind
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.schema import Config
from aeond.ports import LLMAdapter

SMALL = "smollm2-135m-instruct"
WORKING = ("vllm:num_requests_running", "vllm:num_requests_waiting", "llamacpp:requests_processing")


@dataclass(frozen=True, slots=True)
class OpenedEngine:
    """A ready engine. Its server listens on `socket`."""

    llm: LLMAdapter
    socket: Path

    async def at_work(self) -> bool:
        """Whether it is processing requests, by its own metrics page."""
        client = OpenAIClient(UnixSocket(self.socket), Watchdog(SystemClock()))
        lines = (await client.get("/metrics")).decode().splitlines()
        return any(line.startswith(WORKING) and float(line.rpartition(" ")[2]) > 0 for line in lines)


@asynccontextmanager
async def opened(
    folder: Path, engine: str, *, model: str = SMALL, at_once: int = 4, context_tokens: int = 1024
) -> AsyncIterator[OpenedEngine]:
    """Waits until it is ready."""
    settings: dict[str, Any] = {
        "daemon": {"state_dir": str(folder)},
        "socket": {"path": str(folder / "aeond.sock")},
        "model": {
            "engine": EngineKind(engine),
            "name": model,
            "parallel_requests": at_once,
            "context_tokens": context_tokens,
            "yields_memory": False,
        },
    }
    config = Config.model_validate(settings)
    paths = paths_of(config, folder / "aeond.toml")
    async with opened_models(config, paths, SystemClock()) as models:
        await models.engine.load("")
        await models.engine.ready()
        yield OpenedEngine(models.llm_of(""), paths.engine_dir / "engine.sock")
