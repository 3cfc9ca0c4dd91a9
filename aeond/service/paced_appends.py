"""The journal as a run uses it: the appends of each user's runs take turns while other users are active."""

from collections.abc import Sequence

from aeond.domain.runs.events import Event
from aeond.frozen import frozen
from aeond.ports import Appends
from aeond.service.user_turns import UserTurns


@frozen
class PacedAppends:
    """Appends the events of a run of the user `uid`.

    A run waits for its events to be durable before it goes on, so that this paces all of its work.
    """

    journal: Appends
    turns: UserTurns
    uid: int

    async def append(self, events: Sequence[Event]) -> None:
        """See ports.Journal."""
        if not self.turns.needed(self.uid):  # ten times faster
            await self.journal.append(events)
            return
        async with self.turns.taking(self.uid):
            await self.journal.append(events)
