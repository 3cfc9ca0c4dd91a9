"""Ports of the situation: where a decision reads the time, the workspace's names and the remembered facts, and what tools
show of the things that a call names."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import CompositionView, ToolContext
from aeond.domain.values import JsonObject


class Situations(Protocol):
    """Observes the surroundings of a run."""

    async def observe(self, run: RunSnapshot) -> Situation:
        """The situation now. Bounded in entries and in time; a source that fails is left empty. Never raises."""

    async def nearest(self, run: RunSnapshot, words: str) -> tuple[str, ...]:
        """The files that the run's request is probably about, by what they share with it or with these words, the likeliest first. Bounded
        and safe as `observe`."""

    async def language(self, text: str) -> str:
        """The English name of the language of the text; "" where that is doubtful. Bounded and safe as `observe`."""


@runtime_checkable
class ProposesValues(Protocol):
    """What a Tool has beside `execute` and `reconcile` if its spec names `candidates`."""

    async def candidates(
        self, argument: str, context: ToolContext, limit: int, near: str = ""
    ) -> Sequence[str]:
        """At most `limit` existing values for an argument, first those nearest to the text `near` (a value that
        does not exist, or a whole request), else the most relevant ones. Changes nothing; may raise."""


@runtime_checkable
class Composes(Protocol):
    """What a Tool has beside `execute` and `reconcile` if its spec has a `composition`."""

    async def composition_view(
        self, arguments: JsonObject, context: ToolContext, request: str
    ) -> CompositionView | None:
        """What the composed arguments are about, given the others; of much content it shows what is nearest to the
        request. None if what the call would change cannot be shown. Changes nothing; may raise."""
