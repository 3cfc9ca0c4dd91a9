"""Finds the example uses nearest to a request in meaning."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.tools import ToolCall, ToolSpec
from aeond.errors import AeondError
from aeond.orchestration.decision.schema import ANSWER, CANNOT
from aeond.orchestration.prompts.example_uses import EXAMPLE_USES, ExampleUse
from aeond.orchestration.repair.schema_parts import as_object
from aeond.ports import Validator
from aeond.ports.embedding import Embedder, Vector, nearest

SHOWN_USES: Final = 3
MAX_REQUEST_CHARS: Final = 600


class SimilarUses:
    """The uses whose tools are available, ordered by likeness. Without an embedder, or where it fails, none."""

    def __init__(self, embedder: Embedder, validator: Validator, shown: int = SHOWN_USES) -> None:
        self._embedder = embedder
        self._validator = validator
        self._shown = shown
        self._vectors: Sequence[Vector] = ()
        self._model = ""

    async def near(self, request: str, specs: Sequence[ToolSpec]) -> tuple[ExampleUse, ...]:
        """At most `shown` uses, the nearest last, where the model reads it just before the request."""
        if not (self._shown and specs and self._embedder.available):
            return ()
        try:
            if self._model != self._embedder.name or not self._vectors:
                self._vectors = await self._embedder.embed([use.request for use in EXAMPLE_USES])
                self._model = self._embedder.name
            query = await self._embedder.embed([request[:MAX_REQUEST_CHARS]])
        except AeondError:
            return ()
        if not query or not self._vectors:
            return ()
        by_name = {spec.name: spec for spec in specs}
        ranked = nearest(query[0], self._vectors, len(self._vectors))
        found = [EXAMPLE_USES[place] for place, _ in ranked if self._possible(EXAMPLE_USES[place], by_name)]
        return tuple(reversed(found[: self._shown]))

    def _possible(self, use: ExampleUse, by_name: dict[str, ToolSpec]) -> bool:
        name, arguments = next(iter(use.action.items()))
        if name in (ANSWER, CANNOT):
            return True
        spec = by_name.get(name)
        call = ToolCall(name, as_object(arguments))
        return spec is not None and not self._validator.validate_tool_call(call, spec)
