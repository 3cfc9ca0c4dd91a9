"""What tools record before they change something, and who takes it back."""

from collections.abc import Sequence
from typing import Protocol

from aeond.domain.tools import Workspace
from aeond.domain.undo import Change, UndoReport


class UndoLog(Protocol):
    """Changes with the contents from before, within a bound: the oldest contents go first.

    Raises StoreError.
    """

    @property
    def max_content_bytes(self) -> int:
        """The largest content that one change may keep."""

    async def record(self, change: Change) -> None:
        """Durable when it returns. The same owner, step, call and path again take the place of the earlier
        record. InvalidInputError (reason CONTENT_TOO_LARGE) for more than `max_content_bytes`."""

    def record_now(self, change: Change) -> None:
        """As `record`, for work that is in a thread anyway. Blocking; the thread has the daemon's rights."""

    async def find(self, owner: str, step_id: str, call_id: str) -> Sequence[Change]:
        """The changes of one call in their order."""

    async def latest(self, owners: Sequence[str], below: int = 0) -> Change | None:
        """The latest change of these owners that was not settled, with a `change_id` below the given one
        (0: any)."""

    async def settle(self, change_id: int) -> None:
        """Says that the change was taken back; an unknown id changes nothing."""

    async def prune(self, before_time: float) -> int:
        """Removes changes that are older; how many."""


class Undo(Protocol):
    """Takes changes back."""

    async def undo(self, owners: Sequence[str], uid: int, workspace: Workspace) -> UndoReport:
        """Takes the changes of these owners back, the latest first; a repeat finishes what was cut short. Facts are
        those of the user `uid`, files in the `workspace` are changed in the bound folder with its rights.

        A change to content that others have changed since is refused, and the content stays.
        Raises StoreError.
        """
