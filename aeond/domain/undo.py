"""Changes made by tool calls, with the content needed to undo them."""

from enum import StrEnum

from aeond.domain.facts import FactSource
from aeond.domain.tools import ToolContext
from aeond.frozen import frozen


class ChangeKind(StrEnum):
    FILE_WRITTEN = "file_written"  # created, or its content changed
    FILE_MOVED = "file_moved"
    FILE_DELETED = "file_deleted"
    FACT = "fact"  # remembered, changed or forgotten


@frozen
class Change:
    """One change, recorded before it is made.

    `owner` is that of `owner_of`. `path` is relative to the folder `root`; of a
    fact it is the key. `before` is the content that was there, None for nothing; `found` identifies it, and `after`
    the content that is there then, both "" for nothing. Content that is no longer `kept` cannot be restored. `source` is
    where the fact that was there comes from; None for a file, for no fact, and if it was not recorded.
    """

    owner: str
    step_id: str
    call_id: str
    kind: ChangeKind
    root: str
    path: str
    before: bytes | None
    after: str
    time: float
    mode: int = 0o644
    moved_to: str = ""
    made_folders: tuple[str, ...] = ()
    kept: bool = True
    found: str = ""
    source: FactSource | None = None
    change_id: int = 0  # given by the log, increasing


def owner_of(context: ToolContext) -> str:
    """The owner of the changes of a call: its run; outside of a run, the call itself with its user. Clients choose the
    ids of direct calls: one that is the id of a run, or of another user's call, is still another owner."""
    return context.run_id or f"call/{context.uid}/{context.call_id}"


@frozen
class Undone:
    """What undoing a change did: the target as it is called in recorded effects, and a sentence's predicate,
    such as "restored"."""

    target: str
    outcome: str


@frozen
class UndoRefused:
    """A change that stays, and why."""

    target: str
    reason: str
    message: str


@frozen
class UndoReport:
    """How undoing went; both in the order of the work, the latest change first."""

    undone: tuple[Undone, ...] = ()
    refused: tuple[UndoRefused, ...] = ()
