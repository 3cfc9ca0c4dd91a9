"""The subject of an evaluation: one engine, and a daemon of its own over it for each case, composed as the product's."""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import anyio

from aeond.daemon.clocks import SystemClock
from aeond.daemon.compose.daemon import Daemon, composed
from aeond.daemon.compose.models import OpenModels, opened_models
from aeond.daemon.compose.parts import Parts, as_they_are
from aeond.daemon.config.paths import paths_of, user_models_dir
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.config.schema import Config
from aeond.daemon.notify import Notifier
from aeond.ports import LLMAdapter, Tool
from aeond_client import AsyncClient
from tests.eval.counted_model import CountedModel
from tests.eval.extra_tools import extra_tools

ToolChoice = Callable[[Sequence[Tool]], Sequence[Tool]]

WARM_SECONDS: Final = 600.0
DRAIN_SECONDS: Final = 30.0


@dataclass(frozen=True)
class EngineChoice:
    """Which engine is judged: a model of the catalogue in `llama_cpp` or `vllm`, the server at `remote`, or, in tests,
    the `script` of one that is `scripted`. A model that is missing comes from the `hub`. Calls are decided by the
    shipped profile `policy`. `extra_tools` tools of other trades are registered, too."""

    engine: str = "llama_cpp"
    model: str = ""
    remote: str = ""
    remote_key_file: str = ""
    script: str = ""
    parallel: int = 1
    hub: str = ""
    policy: str = "trusted-folder"
    extra_tools: int = 0

    def config(self, folder: Path) -> Config:
        model: dict[str, Any] = {
            "engine": "remote" if self.remote else self.engine,
            "models_dir": str(user_models_dir()),
            "hub_url": self.hub,
            "sleep_after_seconds": 0,
            "unload_after_seconds": 0,
        }
        if self.script:
            model["script"] = self.script
        if self.model and not self.remote:
            model["name"] = self.model
        if self.parallel > 1:
            model["parallel_requests"] = self.parallel
        sections: dict[str, Any] = {
            "daemon": {"state_dir": str(folder / "state")},
            "socket": {"path": str(folder / "aeond.sock")},
            "model": model,
            "engine": {"run": "child"},
            "policy": {"profile": self.policy},
        }
        if self.remote:
            sections["remote"] = {
                "url": self.remote,
                "model": self.model,
                "key_file": self.remote_key_file,
                "allow_plain_http": True,
            }
        return Config.model_validate(sections)


@dataclass(frozen=True)
class Subject:
    """An engine that is up, from which daemons are made."""

    config: Config
    models: OpenModels
    extra: Sequence[Tool] = ()

    @property
    def llm(self) -> LLMAdapter:
        return self.models.llm_of("")

    @asynccontextmanager
    async def daemon(self, folder: Path, tools: ToolChoice = as_they_are) -> AsyncIterator["JudgedDaemon"]:
        """A daemon with its state in `folder` and nothing remembered. `tools` chooses among the usual ones or others."""
        counted = CountedModel(self.models.adapter)
        models = replace(self.models, adapter=counted)
        parts = Parts(
            open_models=lambda *_: contextlib.nullcontext(models),
            tools=lambda usual: [*tools(usual), *self.extra],
        )
        config = self.config.model_copy(
            update={
                "daemon": self.config.daemon.model_copy(update={"state_dir": str(folder / "state")}),
                "socket": self.config.socket.model_copy(update={"path": str(folder / "aeond.sock")}),
            }
        )
        paths = paths_of(config, folder / "aeond.toml")
        paths.make()
        live = LiveConfig(config, lambda: config, Notifier(), SystemClock())
        async with AsyncExitStack() as stack:
            daemon = await stack.enter_async_context(composed(live, paths, parts=parts))
            await stack.enter_async_context(daemon.api.opened())
            daemon.admission.open()
            await daemon.api.announce(serving=True)
            client = await stack.enter_async_context(AsyncClient(paths.socket))
            yield JudgedDaemon(daemon, client, counted)
            daemon.admission.drain()
            with anyio.CancelScope(shield=True):
                await daemon.scheduler.drain(DRAIN_SECONDS)


@dataclass(frozen=True)
class JudgedDaemon:
    """A daemon, a client of it, and the count of its model calls."""

    daemon: Daemon
    client: AsyncClient
    counted: CountedModel = field(repr=False)


@asynccontextmanager
async def opened_subject(choice: EngineChoice, folder: Path) -> AsyncIterator[Subject]:
    """The chosen engine, ready, with the fixed parts of the prompts read. They are kept in `folder`, for the next time."""
    config = choice.config(folder)
    paths = paths_of(config, folder / "aeond.toml")
    paths.make()
    async with opened_models(config, paths, SystemClock()) as models:
        subject = Subject(config, models, extra_tools(choice.extra_tools))
        await models.engine.ready()
        if config.model.reads_ahead:
            with tempfile.TemporaryDirectory(prefix="aeond-eval-") as name:
                async with subject.daemon(Path(name)) as first:
                    with anyio.move_on_after(WARM_SECONDS):
                        await first.daemon.warming.warm_all()
        yield subject
