"""A server that aeond does not run, as an engine: it is probed, never started or stopped."""

import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

import anyio

from aeond.capabilities.llm.adapters.dialects import (
    Dialect,
    LlamaDialect,
    PlainDialect,
    ServerKind,
    VllmDialect,
    guides,
)
from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.adapters.requests import PROBE
from aeond.capabilities.llm.engine.metrics import seen_by
from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import Endpoint
from aeond.capabilities.llm.http.responses import parse_object
from aeond.capabilities.llm.http.tool_probe import calls_tools
from aeond.concurrency import BackgroundTasks, Changes
from aeond.domain.llm import EngineMetrics, EngineSnapshot, EngineState, ModelInfo
from aeond.errors import AeondError, LLMError, LLMGoneError, NotFoundError, OverloadedError
from aeond.frozen import frozen
from aeond.ports import Clock

LOOK_SECONDS: Final = 20.0
FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
UNKNOWN_CONTEXT_TOKENS: Final = 8192  # where neither the server nor the configuration says
SHOWN_MODELS: Final = 10
# Errors of single requests that say that no request will do any better.
OUTAGES: Final = frozenset({"KEY_REFUSED", "QUOTA_SPENT", "ENDPOINT_NOT_FOUND", "ENDPOINT_REDIRECTS"})

OWNERS: Final = {"llamacpp": ServerKind.LLAMA_CPP, "vllm": ServerKind.VLLM}

logger = logging.getLogger(__name__)


@frozen
class RemoteSettings:
    """`model` is what is asked for ("": the first that the server lists). `kind` and `context_tokens` override
    what the server says (AUTO, 0: nothing). `schemas` is whether it is asked to keep to schemas, `tool_calls` whether it
    is asked to call tools natively (None: if the model does so in a probe)."""

    model: str = ""
    kind: ServerKind = ServerKind.AUTO
    context_tokens: int = 0
    schemas: bool = True
    tool_calls: bool | None = False
    max_requests: int = 64


@frozen
class RemoteModel:
    """What a look found: the way to talk, the model, and its context in tokens."""

    client: OpenAIClient
    name: str
    context_length: int
    dialect: Dialect
    tool_calls: bool = False


class RemoteEngine(BackgroundTasks):
    """The Engine port over a server at an endpoint.

    READY is a server that answered when it was last asked, DEAD one that did not; a dead one is looked at again,
    with growing pauses up to a minute, and by every request. STARTING is the first look.
    """

    def __init__(self, endpoint: Endpoint, settings: RemoteSettings, clock: Clock) -> None:
        self._client = OpenAIClient(endpoint, Watchdog(clock))
        self._host = endpoint.host
        self._settings = settings
        self._clock = clock
        self._model = settings.model
        self._seen: RemoteModel | None = None
        self._snapshot = EngineSnapshot(EngineState.COLD)
        self._changes = Changes()
        self._looking = anyio.Lock()
        self._requests = 0
        self.measurements = Measurements(clock)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._tasks.start_soon(self._look_when_dead)
        return self

    @property
    def model(self) -> str:
        """The model in use: the one that the last probe found, else the one chosen or configured ("": none)."""
        return self._seen.name if self._seen else self._model

    @property
    def seen(self) -> RemoteModel | None:
        """What the last look found."""
        return self._seen

    @property
    def context_length(self) -> int:
        if self._seen is not None:
            return self._seen.context_length
        return self._settings.context_tokens or UNKNOWN_CONTEXT_TOKENS

    # ------------------------------------------------------------------ the Engine port

    def snapshot(self) -> EngineSnapshot:
        return self._snapshot

    async def changed(self, seen: EngineSnapshot) -> EngineSnapshot:
        while self._snapshot.resembles(seen):
            await self._changes.next.wait()
        return self._snapshot

    async def load(self, model: str) -> None:
        """Looks at the server, and asks for this one of its models from now on ("": the configured one)."""
        wanted = model or self._settings.model
        if model and model != self.model:
            known = [str(entry.get("id")) for entry in await self._listed()]
            if model not in known:
                raise _unknown(model, known, self._host)
        self._model, self._seen = wanted, None
        self._show(EngineState.STARTING)
        self._tasks.start_soon(self._look_quietly)

    async def unload(self) -> None:
        """Nothing is held here, so nothing is given back; the next request looks at the server again."""
        await anyio.lowlevel.checkpoint()
        self._seen = None
        self._show(EngineState.COLD)

    async def ready(self) -> None:
        """Probes the server unless that is done already. Raises LLMError when it cannot be used."""
        async with self.session():
            return

    async def sleep(self) -> None:
        """It has nothing of ours to give back: as `unload`."""
        await self.unload()

    async def wake(self) -> None:
        """As `load` of the model in use."""
        await self.load(self.model)

    async def list_models(self) -> Sequence[ModelInfo]:
        """What the server lists; the one in use alone where it cannot be asked."""
        try:
            entries = await self._listed()
        except (LLMError, OverloadedError):
            entries = []
        entries = entries or [{"id": self.model or "unknown"}]
        ready = self._snapshot.state is EngineState.READY
        default = self._settings.model or str(entries[0].get("id"))
        return [
            ModelInfo(
                name=(name := str(entry.get("id"))),
                description=f"Served by {self._host}",
                context_length=_context_of(entry) or self._settings.context_tokens,
                present=False,
                loaded=ready and name == self.model,
                default=name == default,
            )
            for entry in entries
        ]

    async def metrics(self) -> EngineMetrics | None:
        measured = self.measurements.metrics()
        return await seen_by(self._client, measured) if self._seen is not None else measured

    # ------------------------------------------------------------------ for the adapter

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[RemoteModel]:
        """The server, probed first if necessary. The outcome of the block updates the engine's state.

        Raises OverloadedError when too many requests are under way, and what a look raises.
        """
        if self._requests >= self._settings.max_requests:
            raise OverloadedError(
                f"{self._requests} requests are under way already: try again later.", reason="ENGINE_BUSY"
            )
        self._requests += 1
        try:
            seen = self._seen or await self._look()
            yield seen
        except LLMError as error:
            if isinstance(error, LLMGoneError) or error.reason in OUTAGES:
                self._lost(error)
            raise
        else:
            self._found()
        finally:
            self._requests -= 1

    # ------------------------------------------------------------------ looking

    async def _look_when_dead(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            if self._snapshot.state is EngineState.DEAD:
                await self._clock.sleep_until(self._clock.monotonic() + pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                await self._look_quietly()
            else:
                pause = FIRST_PAUSE_SECONDS
                await self._changes.next.wait()

    async def _look_quietly(self) -> None:
        with contextlib.suppress(LLMError, OverloadedError):  # the snapshot tells
            await self._look()

    async def _look(self) -> RemoteModel:
        """What kind of server it is and what it can; it becomes READY or DEAD."""
        async with self._looking:
            if self._seen is not None and self._snapshot.state is EngineState.READY:
                return self._seen  # another caller probed it while this one waited
            if self._snapshot.state is EngineState.COLD:
                self._show(EngineState.STARTING)
            try:
                seen = await self._examined()
            except OverloadedError:
                raise  # it is there
            except LLMError as error:
                self._lost(error)
                raise
            self._seen = seen
            self._found()
            return seen

    async def _examined(self) -> RemoteModel:
        entries = await self._listed()
        known = [str(entry.get("id")) for entry in entries]
        entry = next((entry for entry in entries if entry.get("id") == self._model or not self._model), None)
        if entry is None and not self._model:
            raise LLMError(
                f"{self._host} does not say which models it has: name one in remote.model.",
                reason="MODEL_NOT_FOUND",
            )
        kind = self._kind(entry or (entries or [{}])[0])
        if entry is None and kind is not ServerKind.OPENAI:  # others do not list all that they have
            raise LLMError(_unknown(self._model, known, self._host).message, reason="MODEL_NOT_FOUND")
        entry = entry or {"id": self._model}
        parent = next((one for one in entries if one.get("id") == entry.get("parent")), {})
        name, reported = str(entry.get("id")), _context_of(entry) or _context_of(parent)
        context_length = self._settings.context_tokens or reported or UNKNOWN_CONTEXT_TOKENS
        dialect = await self._dialect(kind, name)
        logger.info("%s serves %s with %d tokens of context", self._host, name, context_length)
        return RemoteModel(self._client, name, context_length, dialect, await self._tool_calls(dialect))

    async def _tool_calls(self, dialect: Dialect) -> bool:
        if self._settings.tool_calls is not None:
            return self._settings.tool_calls
        with anyio.move_on_after(LOOK_SECONDS):
            return await calls_tools(self._client, dialect.body(PROBE))
        return False  # too slow to say: JSON under a schema works with every server

    def _kind(self, entry: Mapping[str, Any]) -> ServerKind:
        if self._settings.kind is not ServerKind.AUTO:
            return self._settings.kind
        return OWNERS.get(str(entry.get("owned_by")), ServerKind.OPENAI)

    async def _dialect(self, kind: ServerKind, model: str) -> Dialect:
        schemas = self._settings.schemas
        match kind:
            case ServerKind.LLAMA_CPP:
                return LlamaDialect(model, schemas, await guides(self._client))
            case ServerKind.VLLM:
                return VllmDialect(model, schemas)
            case _:
                return PlainDialect(model, schemas)

    async def _listed(self) -> list[Mapping[str, Any]]:
        """The server's own list; empty where it has none."""
        with anyio.move_on_after(LOOK_SECONDS):
            try:
                listed = parse_object(await self._client.get("/v1/models")).get("data")
            except LLMError as error:
                if error.reason in ("ENDPOINT_NOT_FOUND", "MODEL_NOT_FOUND") and self._model:
                    return []
                raise
            if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
                raise LLMError(f"{self._host} lists its models in an unexpected way.", reason="BAD_ANSWER")
            return listed
        raise LLMError(
            f"{self._host} was silent for {LOOK_SECONDS:g} seconds: look at the server, and at the network.",
            reason="ENDPOINT_SILENT",
            retryable=True,
        )

    def _found(self) -> None:
        snapshot = self._snapshot
        if self._seen is None or (snapshot.state is EngineState.READY and snapshot.model == self._seen.name):
            return
        if snapshot.state is EngineState.DEAD:
            self._snapshot = replace(snapshot, restarts=snapshot.restarts + 1)
        self._show(EngineState.READY)

    def _lost(self, error: AeondError) -> None:
        if self._snapshot.state is not EngineState.DEAD:
            logger.warning("the model at %s is not served: %s", self._host, error.message)
        self._show(EngineState.DEAD, error.message)

    def _show(self, state: EngineState, error: str = "") -> None:
        model = "" if state is EngineState.COLD else self.model
        activity = "looking" if state is EngineState.STARTING else ""
        self._snapshot = replace(
            self._snapshot, state=state, model=model, activity=activity, error=error, progress=0.0
        )
        self._changes.notify()


def _context_of(entry: Mapping[str, Any]) -> int:
    """The context in tokens from the fields of vLLM, llama.cpp and some others; 0 when there is none of them."""
    meta = entry.get("meta")
    places = [entry.get("max_model_len"), entry.get("context_length")]
    places.append(meta.get("n_ctx") if isinstance(meta, Mapping) else None)
    return next((value for value in places if isinstance(value, int) and value > 0), 0)


def _unknown(model: str, known: Sequence[str], host: str) -> NotFoundError:
    shown = ", ".join(known[:SHOWN_MODELS]) + (", ..." if len(known) > SHOWN_MODELS else "")
    return NotFoundError(
        f"{host} has no model {model!r}. It has: {shown or 'none'}.", reason="MODEL_NOT_FOUND", field="model"
    )
