"""Changes of files, each recorded in the undo log before it is made, and made once per call.

A call that is repeated after a crash finds its record: the file's state shows whether the change was made. The record
holds the identity of the file before and after; a file with neither was changed by others since, and is left alone.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import PurePosixPath
from typing import Final
from weakref import WeakValueDictionary

import anyio
from pydantic import BaseModel

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.differences import Edit, unified_diff
from aeond.capabilities.tools.files.file_state import (
    MAX_CONTENT_BYTES,
    NO_FILE,
    FileState,
    identity_of,
)
from aeond.capabilities.tools.files.path_matching import file_target
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target
from aeond.domain.tools import RecordedEffect, ToolContext, ToolOutput
from aeond.domain.undo import Change, ChangeKind, owner_of
from aeond.errors import ToolError
from aeond.ports import Clock
from aeond.ports.undo import UndoLog
from aeond.thread_rights import holds_rights

Transform = Callable[[bytes | None], Edit]
"""Computes an edit from the content of a file; None stands for a file that does not exist."""

CREATED: Final = "file.created"
CHANGED: Final = "file.changed"
MOVED: Final = "file.moved"
MAX_REPORTED: Final = 256
DELETED: Final = "file.deleted"


class FileChange(BaseModel):
    """What a call did to a file."""

    path: str
    change: str


Changed = ToolOutput[FileChange]


class Progress(StrEnum):
    """How far a recorded change got, by what is there now."""

    MADE = "made"
    NOT_MADE = "not made"
    OVERTAKEN = "overtaken"  # others changed the file since


class ReportedPaths:
    """What imprecise paths were taken to mean when the policy decided about their calls, so that a call changes that
    file and no other, and looks for it once. Those of calls that were not carried out are forgotten in time."""

    def __init__(self) -> None:
        self._paths: dict[tuple[str, str, str], str] = {}

    def put(self, context: ToolContext, path: str, meant: str) -> None:
        self._paths.pop(key := _key(context, path), None)
        self._paths[key] = meant
        if len(self._paths) > MAX_REPORTED:
            del self._paths[next(iter(self._paths))]

    def take(self, context: ToolContext, path: str) -> str | None:
        """None for a call that nothing was reported of."""
        return self._paths.pop(_key(context, path), None)


def _key(context: ToolContext, path: str) -> tuple[str, str, str]:
    return owner_of(context), context.call_id, path


class FileChanges:
    """Makes recorded changes of files. Changes of one file wait for each other.

    Raises ToolError as ContainedFiles does, FILE_CHANGED if others changed the file after the call began and
    before it was repeated, FILE_TOO_LARGE for an edit of more than 16 MiB, and StoreError.
    """

    def __init__(self, files: ContainedFiles, log: UndoLog, threads: WorkerThreads, clock: Clock) -> None:
        self.files = files
        self.threads = threads
        self._log = log
        self._clock = clock
        self._locks: WeakValueDictionary[tuple[str, str], anyio.Lock] = WeakValueDictionary()
        self.reported = ReportedPaths()

    async def target(self, path: str, context: ToolContext, access: Access) -> Target:
        """The file that a path names, for the policy."""
        return await self.threads.run(
            lambda _stopped: file_target(self.files, path, context.workspace, access)
        )

    async def rewrite(self, path: str, context: ToolContext, transform: Transform) -> Changed:
        """Replaces the content of a file, or creates it."""
        root, below = self.files.locate(path, context.workspace)
        async with self._alone(root, below):
            if (made := await self.made(context, transform)) is not None:
                return made
            edit, change, made_now = await self.threads.run(
                lambda stopped: self._rewrite(root, below, path, context, transform, stopped)
            )
            if change is None:
                return ToolOutput(FileChange(path=_shown(root, below, context), change="unchanged"))
            if not made_now:
                await self._make(change, self._writing(change, edit.content, context))
            return _rewritten(change, context, edit.change, len(edit.content))

    def _rewrite(
        self, root: str, below: str, path: str, context: ToolContext, transform: Transform, stopped: Stopped
    ) -> tuple[Edit, Change | None, bool]:
        """Blocking. The edit of the file, its record (None if it changes nothing), and whether it was recorded and made: a
        thread that took the rights of the run's user for the look at the file cannot write the record any more, and folders
        are not made before there is one.
        """
        state, folders = self._found(root, below)
        edit = _edited(state, path, transform)
        if state is not None and state.content == edit.content:
            return edit, None, False
        change = self._change(
            ChangeKind.FILE_WRITTEN, context, root, below, state, identity_of(edit.content), folders
        )
        if holds_rights() or folders:
            return edit, change, False
        self._writing(change, edit.content, context, partial(self._log.record_now, change))(stopped)
        return edit, change, True

    def _writing(
        self,
        change: Change,
        content: bytes,
        context: ToolContext,
        meanwhile: Callable[[], None] | None = None,
    ) -> Callable[[Stopped], None]:
        """Puts the content of a change in place that is recorded, at the latest by `meanwhile`; blocking."""
        mark = f"{context.run_id}/{context.step_id}/{context.call_id}"
        root = self.files.recorded_root(change.root, context.workspace)
        return lambda stopped: self.files.write_file(
            change.path, root, content, mark, stopped, expected=change.found, meanwhile=meanwhile
        )

    async def _make(self, change: Change, make: Callable[[Stopped], None]) -> None:
        """Makes a change in the thread that recorded it: to hand the record to another one costs more than to wait for the
        disk. The record comes first: the change may take the rights of the run's user, and make folders."""

        def recorded_first(stopped: Stopped) -> None:
            self._log.record_now(change)
            make(stopped)

        await self.threads.run(recorded_first)

    async def preview(self, path: str, context: ToolContext, transform: Transform) -> CallPreview:
        """What `rewrite` would do now."""
        root, below = self.files.locate(path, context.workspace)
        state = await self._state(root, below)
        edit = _edited(state, path, transform)
        before, shown = None if state is None else state.content, _shown(root, below, context)
        diff = await self.threads.run(lambda _stopped: unified_diff(before, edit.content, shown))
        return CallPreview(diff=diff, target=str(PurePosixPath(root, below)))

    def absolute(self, path: str, context: ToolContext) -> str:
        """The absolute path of what `path` names for this call."""
        return str(PurePosixPath(*self.files.locate(path, context.workspace)))

    def _found(self, root: str, below: str) -> tuple[FileState | None, Sequence[str]]:
        """Blocking. The file, and if there is none, the folders that it lacks."""
        state = self.files.state(below, root)
        return state, () if state is not None else self.files.missing_folders(below, root)

    async def delete(self, path: str, context: ToolContext) -> Changed:
        """Deletes a file."""
        root, below = self.files.locate(path, context.workspace)
        async with self._alone(root, below):
            if (made := await self.made(context)) is not None:
                return made
            state = await self._existing(root, below)
            change = self._change(ChangeKind.FILE_DELETED, context, root, below, state, NO_FILE)
            await self._make(
                change, lambda stopped: self.files.delete_file(below, root, change.found, stopped)
            )
            return _deleted(change, context)

    async def move(self, path: str, to: str, context: ToolContext) -> Changed:
        """Moves a file to a path that is free."""
        root, below = self.files.locate(path, context.workspace)
        async with self._alone(root, below):
            if (made := await self.made(context)) is not None:
                return made
            state = await self._existing(root, below)
            other_root, target = self.files.locate(to, context.workspace)
            folders = await self.threads.run(lambda _stopped: self.files.missing_folders(target, other_root))
            change = self._change(
                ChangeKind.FILE_MOVED, context, root, below, state, state.identity, folders, target
            )
            await self._make(
                change, lambda stopped: self.files.move_file(path, to, context.workspace, stopped)
            )
            return _moved(change, context)

    async def made(self, context: ToolContext, transform: Transform | None = None) -> Changed | None:
        """The output of this call if it made its change earlier, before a crash; None if it made none yet.
        FILE_CHANGED if that cannot be decided."""
        recorded = await self._recorded(context)
        if recorded is None:
            return None
        root = self.files.recorded_root(recorded.root, context.workspace)
        state = await self._state(root, recorded.moved_to or recorded.path)
        left = await self._state(root, recorded.path) if recorded.moved_to else None
        match progress(recorded, state, left):
            case Progress.NOT_MADE:
                return None
            case Progress.OVERTAKEN:
                raise ToolError(
                    f"{recorded.path!r:.200} was changed by others during this call: read it first",
                    reason="FILE_CHANGED",
                    field="path",
                )
            case Progress.MADE if recorded.kind is ChangeKind.FILE_MOVED:
                return _moved(recorded, context)
            case Progress.MADE if recorded.kind is ChangeKind.FILE_DELETED:
                return _deleted(recorded, context)
            case Progress.MADE:
                size = 0 if state is None else state.size
                if not recorded.kept or transform is None:
                    return _rewritten(recorded, context, "done", size)
                edit = transform(recorded.before)
                same_call = identity_of(edit.content) == recorded.after
                return _rewritten(recorded, context, edit.change, size) if same_call else None

    async def _recorded(self, context: ToolContext) -> Change | None:
        if not context.repeated:
            return None
        found = await self._log.find(owner_of(context), context.step_id, context.call_id)
        return found[-1] if found else None

    async def _state(self, root: str, below: str) -> FileState | None:
        return await self.threads.run(lambda _stopped: self.files.state(below, root))

    async def _existing(self, root: str, below: str) -> FileState:
        state = await self._state(root, below)
        if state is None:
            raise ToolError(f"{below!r:.200} does not exist", reason="FILE_NOT_FOUND", field="path")
        return state

    def _change(
        self,
        kind: ChangeKind,
        context: ToolContext,
        root: str,
        below: str,
        state: FileState | None,
        after: str,
        folders: Sequence[str] = (),
        moved_to: str = "",
    ) -> Change:
        """The record. A move keeps no content, because none is lost; nor is more kept than the log can take."""
        content = None if state is None or kind is ChangeKind.FILE_MOVED else state.content
        kept = (
            state is None
            or kind is ChangeKind.FILE_MOVED
            or (content is not None and len(content) <= self._log.max_content_bytes)
        )
        return Change(
            owner=owner_of(context),
            step_id=context.step_id,
            call_id=context.call_id,
            kind=kind,
            root=root,
            path=below,
            before=content if kept else None,
            found=NO_FILE if state is None else state.identity,
            after=after,
            time=self._clock.time(),
            mode=0o644 if state is None else state.mode,
            moved_to=moved_to,
            made_folders=tuple(folders),
            kept=kept,
        )

    def _alone(self, root: str, below: str) -> anyio.Lock:
        return self._locks.setdefault((root, below), anyio.Lock())


def _edited(state: FileState | None, path: str, transform: Transform) -> Edit:
    if state is not None and state.content is None:
        raise ToolError(
            f"{path!r:.200} is larger than {MAX_CONTENT_BYTES >> 20} MiB: it can only be read, moved or deleted",
            reason="FILE_TOO_LARGE",
            field="path",
        )
    return transform(None if state is None else state.content)


def progress(change: Change, state: FileState | None, left: FileState | None) -> Progress:
    """How far a change got. `state` is what is at the changed path; of a move at the new path, and `left` is then
    what is at the old one."""
    there = NO_FILE if state is None else state.identity
    if change.kind is ChangeKind.FILE_MOVED:
        if there == change.after and left is None:
            return Progress.MADE
        return Progress.NOT_MADE if left is not None and left.identity == change.found else Progress.OVERTAKEN
    if there == change.after:
        return Progress.MADE
    return Progress.NOT_MADE if there == change.found else Progress.OVERTAKEN


def _rewritten(change: Change, context: ToolContext, words: str, size: int) -> Changed:
    kind = CREATED if change.found == NO_FILE else CHANGED
    return _output(change, context, words, kind, f"{size} bytes")


def _deleted(change: Change, context: ToolContext) -> Changed:
    size = "" if change.before is None else f"{len(change.before)} bytes"
    return _output(change, context, "deleted", DELETED, size)


def _moved(change: Change, context: ToolContext) -> Changed:
    to = _shown(change.root, change.moved_to, context)
    return _output(change, context, f"moved to {to}", MOVED, to)


def _output(change: Change, context: ToolContext, words: str, kind: str, detail: str) -> Changed:
    path = _shown(change.root, change.path, context)
    return ToolOutput(FileChange(path=path, change=words), (RecordedEffect(kind, path, detail),))


def _shown(root: str, below: str, context: ToolContext) -> str:
    """The path as the run writes it: below its workspace relative, else absolute."""
    return below if root == context.workspace else str(PurePosixPath(root, below))
