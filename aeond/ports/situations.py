"""Seam of the situation: where a decision reads the time, the workspace's names and the remembered facts."""

from typing import Protocol

from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation


class Situations(Protocol):
    """Observes the surroundings of a run."""

    async def observe(self, run: RunSnapshot) -> Situation:
        """The situation now. Bounded in entries and in time; a source that fails is left empty. Never raises."""
