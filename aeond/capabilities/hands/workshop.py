"""Runs programs in the sandbox for the tools of this package, and records what they change in the workspace."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from weakref import WeakValueDictionary

import anyio

from aeond.capabilities.hands.workspace_tree import (
    MAX_ENTRIES,
    Tree,
    difference,
    missing_folders,
    seen,
)
from aeond.capabilities.sandbox.conversing import Conditions, Sandbox, ignore_text
from aeond.capabilities.sandbox.messages import Errand, Limits, Request
from aeond.capabilities.tools.files.changes import CHANGED, CREATED, DELETED
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.file_state import NO_FILE, FileState
from aeond.capabilities.tools.files.reading import shown_name
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.tools import MAX_EFFECTS, RecordedEffect, ToolContext
from aeond.domain.undo import Change, ChangeKind, owner_of
from aeond.domain.values import storable
from aeond.errors import AeondError, ToolError
from aeond.frozen import frozen
from aeond.ports import Clock, TextSink
from aeond.ports.undo import UndoLog
from aeond.user_places import UserPlaces

INSIDE: Final = Path(__file__).parent / "inside"
MAX_KEPT_FILE_BYTES: Final = 4 << 20
MAX_RECORDED: Final = 256  # changes of one command that can be undone
MAX_TOGETHER: Final = 4  # commands at once: each keeps the contents of files in memory
MAX_OF_ONE_USER: Final = 2
MAX_NAMED: Final = 5
SETTLE_SECONDS: Final = 30.0
GRACE_SECONDS: Final = 10.0
UNKNOWN_STATE: Final = "unknown"  # of a file whose content was not kept
_NO_ENVIRONMENT: Final[Mapping[str, str]] = MappingProxyType({})


@frozen
class Program:
    """The outcome of one program. `errors` is its error output if that was asked for separately; `stopped` says that
    it was ended when its time was up, `clipped` that the middle of its output is missing."""

    exit_code: int
    output: str
    errors: str
    seconds: float
    stopped: bool
    clipped: bool


@frozen
class Ran:
    """The outcomes of programs up to the first that failed, at least one, what they changed, and what is to be said
    about it."""

    programs: tuple[Program, ...]
    effects: tuple[RecordedEffect, ...] = ()
    notes: tuple[str, ...] = ()


class Workshop:
    """Runs programs in the sandbox. Those that may change the workspace run one after the other in each.

    `show_text` gives the sink for the live output of a run's step.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        files: ContainedFiles,
        threads: WorkerThreads,
        log: UndoLog,
        clock: Clock,
        memory_bytes: int,
        show_text: Callable[[str, str], TextSink],
    ) -> None:
        self.files = files
        self.threads = threads
        self._sandbox = sandbox
        self._log = log
        self._clock = clock
        self._memory_bytes = memory_bytes
        self._show_text = show_text
        self._together = UserPlaces(MAX_TOGETHER, MAX_OF_ONE_USER)
        # For what follows a program: tools that hold all other threads cannot prevent it.
        self._own_threads = WorkerThreads(MAX_TOGETHER)
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @property
    def profile(self) -> str:
        return self._sandbox.profile

    async def change(
        self, context: ToolContext, argvs: Sequence[Sequence[str]], seconds: float, kept_bytes: int
    ) -> Ran:
        """Runs programs that may change the workspace, except its protected names; those that they make are renamed. Their
        changes are recorded also if the call is cancelled. ToolError as Sandbox.perform and `workspace_tree.seen`, and
        (reason NAMES_NOT_RENAMED) if protected names may be left."""
        if not context.workspace:
            return await self.run(context, argvs, seconds, kept_bytes, Conditions(show=self.sink(context)))
        async with (
            self._together.taking(context.uid),
            self._locks.setdefault(context.workspace, anyio.Lock()),
        ):
            before = await self.threads.run(lambda stopped: self._seen(context, stopped))
            if not before.whole:
                raise ToolError(
                    f"the working folder has more than {MAX_ENTRIES} files, too many to watch: choose a smaller one",
                    reason="WORKSPACE_TOO_LARGE",
                )
            ran = Ran(())
            failure: AeondError | None = None
            try:
                conditions = Conditions(before.writable(), self.sink(context))
                ran = await self.run(context, argvs, seconds, kept_bytes, conditions)
            except AeondError as error:
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    after = await self._searched(before, context)  # however long it takes
                    with anyio.move_on_after(SETTLE_SECONDS) as settling:
                        effects, notes = await self._settled(before, after, context)
            if after.left:
                raise _not_renamed(f"{_named(after.left)} could not be renamed") from failure
            if failure is not None:
                raise failure
            if settling.cancelled_caught:
                effects, notes = (), ("the changes could not be listed in time, nor can they be undone",)
            return Ran(ran.programs, effects, (*ran.notes, *_renamed(after), *notes))

    async def run(
        self,
        context: ToolContext,
        argvs: Sequence[Sequence[str]],
        seconds: float,
        kept_bytes: int,
        conditions: Conditions,
        *,
        environment: Mapping[str, str] = _NO_ENVIRONMENT,
        merged: bool = True,
    ) -> Ran:
        """Runs programs under these conditions; nothing is recorded. A process tree that the kernel ends, for want of
        memory for example, is an outcome too."""
        arguments = {
            "argvs": [[*argv] for argv in argvs],
            "seconds": seconds,
            "kept_bytes": kept_bytes,
            "environment": {**environment},
            "merged": merged,
        }
        try:
            answer = await self.perform("programs", arguments, context, seconds + GRACE_SECONDS, conditions)
        except ToolError as error:
            if error.reason != "SANDBOX_ENDED":
                raise
            return Ran((Program(137, "", "", 0.0, stopped=False, clipped=False),), notes=(error.message,))
        return Ran(tuple(Program(**one) for one in answer))

    async def perform(
        self,
        name: str,
        arguments: Mapping[str, Any],
        context: ToolContext,
        seconds: float,
        conditions: Conditions,
        max_value_bytes: int = 4 << 20,
    ) -> Any:
        """What the tool `name` of the module `name` in `inside` returns, as it is: the sandbox is not trusted."""
        path = INSIDE / f"{name}.py"
        source = await self.threads.run(lambda _stopped: path.read_bytes())
        request = Request(
            Errand.EXECUTE, str(path), source, Limits(seconds, self._memory_bytes), name, arguments, context
        )
        return await self._sandbox.perform(request, max_value_bytes, conditions)

    def sink(self, context: ToolContext) -> TextSink:
        """Receives the live output of a call; outside of a run there is no watcher."""
        return self._show_text(context.run_id, context.step_id) if context.run_id else ignore_text

    def _seen(self, context: ToolContext, stopped: Stopped) -> Tree:
        most = min(MAX_KEPT_FILE_BYTES, self._log.max_content_bytes)
        return seen(self.files, context.workspace, stopped, keep_bytes=most)

    async def _searched(self, before: Tree, context: ToolContext) -> Tree:
        """The tree after the programs, in which the protected names that they made are renamed. ToolError (reason
        NAMES_NOT_RENAMED)."""
        known = frozenset(before.protected.values())
        try:
            return await self._own_threads.run(
                lambda stopped: seen(self.files, context.workspace, stopped, known=known)
            )
        except (AeondError, OSError, RuntimeError) as error:
            raise _not_renamed(f"{context.workspace} could not be searched ({error})") from error

    async def _settled(
        self, before: Tree, after: Tree, context: ToolContext
    ) -> tuple[tuple[RecordedEffect, ...], tuple[str, ...]]:
        found = difference(before, after)
        notes: list[str] = []
        if not after.whole:
            notes.append(
                f"there are more than {MAX_ENTRIES} files now, so that the changes cannot be listed or undone"
            )
        effects: list[RecordedEffect] = []
        lost: list[str] = []
        recorded = 0
        # Lost originals first: MAX_RECORDED is for them, and not for new files. Undo goes the other way, so that a new
        # folder is gone before a deleted file of its name comes back.
        for kind, paths in ((DELETED, found.deleted), (CHANGED, found.changed), (CREATED, found.created)):
            for path in paths:
                state = None if kind == DELETED else await self._state(path, context)
                old = before.kept.get(path)
                if (
                    kind == CHANGED
                    and old
                    and state
                    and (old.identity, old.mode) == (state.identity, state.mode)
                ):
                    continue  # written as it was
                if len(effects) < MAX_EFFECTS:
                    effects.append(RecordedEffect(kind, path, f"{state.size} bytes" if state else ""))
                restorable = old is not None or (kind == CREATED and state is not None)
                if recorded < MAX_RECORDED and path == storable(path):  # the undo log has texts only
                    recorded += 1
                    await self._log.record(self._change(kind, path, old, state, before, context))
                else:
                    restorable = False
                if not restorable:
                    lost.append(path)
        total = len(found.created) + len(found.changed) + len(found.deleted)
        if total > len(effects) == MAX_EFFECTS:
            notes.append(f"{total} files changed in all")
        if lost:
            notes.append(f"cannot be undone: {_named(lost)}")
        return tuple(effects), tuple(notes)

    def _change(
        self,
        kind: str,
        path: str,
        old: FileState | None,
        state: FileState | None,
        before: Tree,
        context: ToolContext,
    ) -> Change:
        created = kind == CREATED
        return Change(
            owner=owner_of(context),
            step_id=context.step_id,
            call_id=context.call_id,
            kind=ChangeKind.FILE_DELETED if kind == DELETED else ChangeKind.FILE_WRITTEN,
            root=context.workspace,
            path=path,
            before=None if old is None else old.content,
            found=NO_FILE if created else UNKNOWN_STATE if old is None else old.identity,
            after=NO_FILE if state is None else state.identity,
            time=self._clock.time(),
            mode=0o644 if old is None else old.mode,
            made_folders=missing_folders(path, before) if created else (),
            kept=created or old is not None,
        )

    async def _state(self, path: str, context: ToolContext) -> FileState | None:
        """None for anything but a regular file that can be read."""
        try:
            return await self._own_threads.run(lambda _stopped: self.files.state(path, context.workspace))
        except ToolError:
            return None


def _renamed(after: Tree) -> Sequence[str]:
    if not after.renamed:
        return ()
    return (f"renamed to {_named(after.renamed)}, because the name can run code or hold keys",)


def _not_renamed(why: str) -> ToolError:
    return ToolError(
        f"{why}: files that the program made may run code or hold keys, such as .envrc or .git; remove them by hand",
        reason="NAMES_NOT_RENAMED",
    )


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(shown_name(path) for path in paths[:MAX_NAMED])
    return shown if len(paths) <= MAX_NAMED else f"{shown} and {len(paths) - MAX_NAMED} more"
