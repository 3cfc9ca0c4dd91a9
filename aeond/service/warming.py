"""Has the engine read what most prompts begin with before the first of them comes."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

import anyio

from aeond.domain.llm import EngineState, LLMRequest, Priority
from aeond.domain.messages import Message
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject
from aeond.errors import InvalidInputError, LLMError, OverloadedError
from aeond.ports import Clock, Engine, LLMAdapter

LOOK_SECONDS: Final = 0.5
READ_SECONDS: Final = 3_600.0  # it gives way to everybody, so it may take as long as they like

log = logging.getLogger("aeond.service")


class PromptWarming:
    """Asks each new life of the engine for a single token after each of the `openings`, in the background, and
    again when there are other `tools` than before. The token is asked for under `schema`, so that the engine's
    compiler of schemas is at work before it is waited for. All are asked for at once, the one that comes first in
    a run first: a request that comes before they are read is read as what it is, with an opening that is known.

    A background request for one token has its prompt read ahead: it gives way to every other request, and
    what was read is found by those that begin alike. How far it is, the engine's snapshot tells.
    """

    def __init__(
        self,
        adapter: LLMAdapter,
        engine: Engine,
        openings: Sequence[Callable[[], Sequence[Message]]],
        clock: Clock,
        tools: Callable[[], Sequence[ToolSpec]],
        schema: Callable[[], JsonObject],
    ) -> None:
        self._adapter = adapter
        self._engine = engine
        self._openings = openings
        self._clock = clock
        self._tools = tools
        self._schema = schema

    async def keep_warm(self) -> None:
        """Works until it is cancelled; a failure is logged, and the next life of the engine tried. What gave way is
        tried again, as soon as the engine has the model that most prompts are for."""
        warm: tuple[str, int, Sequence[ToolSpec]] | None = None
        while True:
            engine = self._engine.snapshot()
            ready = engine.state is EngineState.READY and engine.model == self._adapter.model
            life = (engine.model, engine.restarts, tuple(self._tools())) if ready else None
            if life not in (None, warm):
                life = life if await self._warm_all() else None
            warm = life
            await self._clock.sleep_until(self._clock.monotonic() + LOOK_SECONDS)

    async def _warm_all(self) -> bool:
        """False when one of them gave way to somebody else."""
        warmed: list[bool] = []

        async def warm(messages: Sequence[Message]) -> None:
            warmed.append(await self._warm(messages))

        async with anyio.create_task_group() as tasks:
            for opening in self._openings:
                if messages := opening():
                    tasks.start_soon(warm, messages)
        return all(warmed)

    async def _warm(self, opening: Sequence[Message]) -> bool:
        """False when it gave way to somebody else."""
        request = LLMRequest(
            tuple(opening),
            max_tokens=1,
            schema=self._schema() if self._adapter.capabilities.schema else None,
            priority=Priority.BACKGROUND,
            deadline_seconds=READ_SECONDS,
        )
        began = self._clock.monotonic()
        try:
            response = await self._adapter.generate(request)
        except (LLMError, OverloadedError, InvalidInputError) as error:
            if error.reason == "GAVE_WAY":
                return False
            log.warning("the usual beginning of prompts was not read ahead: %s", error)
        else:
            usage = response.usage
            log.info(
                "the usual beginning of prompts is read: %d tokens, %d of them from before, in %.1f s",
                usage.prompt_tokens,
                usage.cached_tokens,
                self._clock.monotonic() - began,
            )
        return True
