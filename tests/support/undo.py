"""An undo log without a disk, and an undo that only notes what it is asked."""

from collections.abc import Sequence
from dataclasses import replace

from anyio.lowlevel import checkpoint

from aeond.domain.tools import Workspace
from aeond.domain.undo import Change, Undone, UndoRefused, UndoReport
from aeond.errors import InvalidInputError


class InMemoryUndoLog:
    """An UndoLog for tests; `max_bytes` bounds all contents together."""

    def __init__(self, max_bytes: int = 16 << 20) -> None:
        self._max_bytes = max_bytes
        self._changes: list[Change] = []
        self._last_id = 0

    @property
    def max_content_bytes(self) -> int:
        return self._max_bytes

    async def record(self, change: Change) -> None:
        await checkpoint()
        self.record_now(change)

    def record_now(self, change: Change) -> None:
        if len(change.before or b"") > self._max_bytes:
            raise InvalidInputError("the content is larger than the undo log", reason="CONTENT_TOO_LARGE")
        self._last_id += 1
        kept = [one for one in self._changes if _key(one) != _key(change)]
        self._changes = [*kept, replace(change, change_id=self._last_id)]
        while sum(len(one.before or b"") for one in self._changes) > self._max_bytes:
            place = next(place for place, one in enumerate(self._changes) if one.before)
            self._changes[place] = replace(self._changes[place], before=None, kept=False)

    async def find(self, owner: str, step_id: str, call_id: str) -> Sequence[Change]:
        await checkpoint()
        wanted = (owner, step_id, call_id)
        return [one for one in self._changes if (one.owner, one.step_id, one.call_id) == wanted]

    async def latest(self, owners: Sequence[str], below: int = 0) -> Change | None:
        await checkpoint()
        fitting = (
            one
            for one in reversed(self._changes)
            if one.owner in owners and (not below or one.change_id < below)
        )
        return next(fitting, None)

    async def settle(self, change_id: int) -> None:
        await checkpoint()
        self._changes = [one for one in self._changes if one.change_id != change_id]

    async def prune(self, before_time: float) -> int:
        await checkpoint()
        kept = [one for one in self._changes if one.time >= before_time]
        removed = len(self._changes) - len(kept)
        self._changes = kept
        return removed


class RecordedUndo:
    """An Undo for tests of its callers: takes one invented change back and refuses another, for each owner."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    async def undo(self, owners: Sequence[str], uid: int, workspace: Workspace) -> UndoReport:
        await checkpoint()
        self.asked.append(tuple(owners))
        refused = UndoRefused("b.txt", "CHANGED_SINCE", "it was changed since")
        return UndoReport((Undone("a.txt", "restored"),), (refused,))


def _key(change: Change) -> tuple[str, str, str, str]:
    return change.owner, change.step_id, change.call_id, change.path
