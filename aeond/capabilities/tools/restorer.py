"""Takes back changes that the undo log has: contents, moves and deletions of files, and facts."""

import json
from collections.abc import Sequence
from typing import Final

import anyio

from aeond.capabilities.tools.files.changes import Progress, progress
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.file_state import NO_FILE, identity_of
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.domain.facts import unknown_source
from aeond.domain.tools import Workspace
from aeond.domain.undo import Change, ChangeKind, Undone, UndoRefused, UndoReport
from aeond.domain.values import canonical_json
from aeond.errors import AeondError, StoreError
from aeond.ports import Memories, Memory
from aeond.ports.undo import UndoLog

MAX_CHANGES: Final = 10_000  # considered by one call
MAX_TARGET_CHARS: Final = 200


class Restorer:
    """The Undo over files and memory.

    A change is taken back only while its target is as the change left it; a repetition after a crash finds it as it
    was before and settles it. A change of which only the record exists is settled without a word. Calls wait for
    each other.
    """

    def __init__(
        self, log: UndoLog, files: ContainedFiles, threads: WorkerThreads, memories: Memories
    ) -> None:
        self._log = log
        self._files = files
        self._threads = threads
        self._memories = memories
        self._lock = anyio.Lock()

    async def undo(self, owners: Sequence[str], uid: int, workspace: Workspace) -> UndoReport:
        undone: list[Undone] = []
        refused: list[UndoRefused] = []
        memory = self._memories.of(uid)
        below = 0
        async with self._lock:
            for _ in range(MAX_CHANGES):
                change = await self._log.latest(owners, below)
                if change is None:
                    break
                below = change.change_id
                outcome = await self._outcome(change, memory, workspace)
                if isinstance(outcome, UndoRefused):
                    refused.append(outcome)
                    continue
                if outcome is not None:
                    undone.append(outcome)
                await self._log.settle(change.change_id)
        return UndoReport(tuple(undone), tuple(refused))

    async def _outcome(
        self, change: Change, memory: Memory, workspace: Workspace
    ) -> Undone | UndoRefused | None:
        """None for a change that was never made, or was taken back already."""
        try:
            if change.kind is ChangeKind.FACT:
                return await self._fact(change, memory)
            return await self._threads.run(lambda _stopped: self._file(change, workspace))
        except StoreError:
            raise
        except AeondError as error:
            return _refused(change, error.reason, error.message)

    def _file(self, change: Change, workspace: Workspace) -> Undone | UndoRefused | None:
        """Blocking."""
        root, path = self._files.recorded_root(change.root, workspace), change.path
        state = self._files.state(change.moved_to or path, root)
        left = self._files.state(path, root) if change.moved_to else None
        match progress(change, state, left):
            case Progress.NOT_MADE:
                return None
            case Progress.OVERTAKEN:
                return _changed_since(change)
            case Progress.MADE if change.kind is ChangeKind.FILE_MOVED:
                self._files.move_file(change.moved_to, f"./{path}", root)
                self._files.remove_folders(change.made_folders, root)
                return Undone(_target(change), "moved back")
            case Progress.MADE if change.found == NO_FILE:
                self._files.delete_file(path, root, change.after)
                self._files.remove_folders(change.made_folders, root)
                return Undone(_target(change), "removed")
            case Progress.MADE if not change.kept or change.before is None:
                return _not_kept(change)
            case Progress.MADE:
                self._files.write_file(
                    path,
                    root,
                    change.before,
                    f"undo/{change.change_id}",
                    expected=change.after,
                    new_mode=change.mode,
                )
        return Undone(_target(change), "restored")

    async def _fact(self, change: Change, memory: Memory) -> Undone | UndoRefused | None:
        found = dict(await memory.search(change.path, limit=1))
        there = identity_of(canonical_json(found[change.path]).encode()) if change.path in found else NO_FILE
        if there != change.after:
            known = change.kept and there == (
                NO_FILE if change.before is None else identity_of(change.before)
            )
            return None if known else _changed_since(change)
        if not change.kept:
            return _not_kept(change)
        if change.before is None:
            await memory.delete(change.path)
            return Undone(_target(change), "forgotten")
        source = unknown_source(change.path) if change.source is None else change.source
        await memory.write(change.path, json.loads(change.before), source)
        return Undone(_target(change), "restored")


def _changed_since(change: Change) -> UndoRefused:
    return _refused(change, "CHANGED_SINCE", "it was changed since: restore it by hand")


def _not_kept(change: Change) -> UndoRefused:
    return _refused(change, "CONTENT_NOT_KEPT", "its content from before is not kept: see tools.undo_mib")


def _refused(change: Change, reason: str, message: str) -> UndoRefused:
    return UndoRefused(_target(change), reason, message)


def _target(change: Change) -> str:
    plain = change.path.encode("utf-8", "backslashreplace").decode()
    return plain if len(plain) <= MAX_TARGET_CHARS else f"{plain[: MAX_TARGET_CHARS - 3]}..."
