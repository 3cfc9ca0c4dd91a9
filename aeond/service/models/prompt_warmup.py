"""Warms up the prefix cache with the common beginnings of prompts."""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from aeond.concurrency import first_of
from aeond.domain.llm import EngineState, LLMRequest, Priority
from aeond.domain.messages import Message
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError, LLMError, OverloadedError
from aeond.frozen import frozen
from aeond.ports import Clock, Engine, LLMAdapter

LOOK_SECONDS: Final = 0.5
TOOLS_SECONDS: Final = 5.0  # between two looks at the tools
READ_SECONDS: Final = 3_600.0  # it yields to all other requests, so it needs a long deadline

log = logging.getLogger("aeond.service")


@frozen
class PromptWarmup:
    """After each start of the engine, requests a single token for each of the `openings`, in the background,
    and again when the `tools` change. The request uses `schema`, so that the engine compiles the schema in
    advance. They are made one after the other, in the order in which a run needs them: a request that arrives
    before warm-up ends is processed normally, with the openings that are cached so far.

    A background request for one token only fills the cache: it yields to every other request, and requests
    with the same beginning reuse what was read. The engine's snapshot shows the progress.
    """

    adapter: LLMAdapter
    engine: Engine
    openings: Callable[[], Iterable[Sequence[Message]]]
    clock: Clock
    tools: Callable[[], Sequence[ToolSpec]]
    schema: Callable[[], JsonObject]

    async def keep_warm(self) -> None:
        """Works until cancelled. A failure is logged; the next attempt follows the next start of the engine.
        A request that yielded is repeated once the engine has the default model again."""
        warm: tuple[str, int, Sequence[ToolSpec]] | None = None
        while True:
            engine = self.engine.snapshot()
            ready = engine.state is EngineState.READY and engine.model == self.adapter.model
            life = (engine.model, engine.restarts, tuple(self.tools())) if ready else None
            if life not in (None, warm):
                life = life if await self.warm_all() else None
            warm = life
            now = self.clock.monotonic()
            await self.clock.sleep_until(now + LOOK_SECONDS)
            if warm or not ready:
                await first_of(
                    partial(self.engine.changed, engine),
                    partial(self.clock.sleep_until, now + TOOLS_SECONDS),
                )

    async def warm_all(self) -> bool:
        """Reads all openings once; False when one of them gave way to another request."""
        warmed = [await self._warm(opening) for opening in self.openings()]
        return all(warmed)

    async def _warm(self, opening: Sequence[Message]) -> bool:
        """False if the request yielded."""
        request = LLMRequest(
            tuple(opening),
            max_tokens=1,
            schema=self.schema() if self.adapter.capabilities.schema else None,
            priority=Priority.BACKGROUND,
            deadline_seconds=READ_SECONDS,
        )
        began = self.clock.monotonic()
        try:
            response = await self.adapter.generate(request)
        except (LLMError, OverloadedError, InvalidInputError) as error:
            if error.reason == "GAVE_WAY":
                return False
            log.warning("warm-up of the prefix cache failed: %s", error)
        else:
            usage = response.usage
            log.info(
                "warmed up the prefix cache: %d tokens, %d of them cached, in %.1f s",
                usage.prompt_tokens,
                usage.cached_tokens,
                self.clock.monotonic() - began,
            )
        return True
