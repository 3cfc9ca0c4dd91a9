"""What a command changes in its workspace: the tree before and after it, compared within a bound.

Programs in the sandbox write where they will, so that their changes are found afterwards. The contents of the files
changed last are kept beforehand, which is what can be undone.
"""

import os
import stat
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.policy.protected_names import protected_name
from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.file_state import FileState
from aeond.capabilities.tools.files.safe_open import rename_to_free_name
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_ENTRIES: Final = 100_000
MAX_KEPT_FILES: Final = 2_000
MAX_KEPT_BYTES: Final = 32 << 20  # in all
MAX_MOUNTS: Final = 64
MAX_RENAMES: Final = 100

Facts = tuple[int, ...]
"""Size, times of change, inode and mode: any write to a file changes its facts."""


@frozen
class Tree:
    """The files of a workspace by their paths, including links and special files, and its folders.

    `protected` are the files and folders of protected names, by device and inode; nothing below them is listed.
    `kept` has the states of some of the files. `renamed` has the new paths of files and folders that were renamed, and
    `left` the paths of those that could not be.
    """

    files: Mapping[str, Facts]
    folders: frozenset[str]
    protected: Mapping[str, tuple[int, int]]
    linked: frozenset[str]  # protected names that are symbolic links
    kept: Mapping[str, FileState]
    whole: bool  # otherwise only `protected`, `linked`, `renamed` and `left` are complete
    renamed: Sequence[str] = ()
    left: Sequence[str] = ()

    def writable(self) -> Mapping[str, bool]:
        """What a program may change: everything but the protected, with few enough entries to mount each of them.
        A folder with too many of them is read-only as a whole, and so is one with a link of a protected name."""
        closed = {path.rpartition("/")[0] if path in self.linked else path for path in self.protected}
        while len(closed) > MAX_MOUNTS:
            tops = Counter(path.partition("/")[0] for path in closed)
            top, count = tops.most_common(1)[0]
            closed = {path for path in closed if path.partition("/")[0] != top} | {top if count > 1 else ""}
            if "" in closed:
                break
        return {"": False} if "" in closed else dict.fromkeys(closed, False)


def seen(
    files: ContainedFiles,
    workspace: str,
    stopped: Stopped,
    *,
    keep_bytes: int = 0,
    known: Collection[tuple[int, int]] | None = None,
) -> Tree:
    """Blocking. The tree, with the states of the files changed last of at most `keep_bytes` each; of more than
    MAX_ENTRIES entries only the protected names. Of these, every one that is not `known` by device and inode is renamed at
    once by `defuse`, so that it has no effect while the search goes on. ToolError (reason STOPPED, and as ContainedFiles
    does)."""
    found: dict[str, Facts] = {}
    regular: list[tuple[int, int, str]] = []
    folders: set[str] = set()
    protected: dict[str, tuple[int, int]] = {}
    linked: set[str] = set()
    renamed: list[str] = []
    left: list[str] = []
    waiting = deque([""])
    whole = True
    own = PurePosixPath(workspace).name
    anchor = "" if protected_name(own) else f"{own}/"  # a folder given as the workspace may be used
    while waiting:
        here = waiting.popleft()
        if stopped():
            raise ToolError("the comparison of the workspace was stopped", reason="STOPPED")
        try:
            with files.open_folder(here or ".", workspace) as opened, os.scandir(opened) as entries:
                listed = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except (ToolError, FileNotFoundError):
            if not here:
                raise
            continue  # not readable, hidden, or gone meanwhile
        whole = whole and len(found) + len(folders) + len(listed) <= MAX_ENTRIES
        for name, facts in listed:
            path = f"{here}/{name}" if here else name
            if protected_name(anchor + path):
                one = (facts.st_dev, facts.st_ino)
                if known is not None and one not in known:  # one that has moved is not the command's
                    try:
                        renamed.append(defuse(files, workspace, path))
                    except (OSError, ToolError):
                        left.append(path)
                    continue
                protected[path] = one
                if stat.S_ISLNK(facts.st_mode):
                    linked.add(path)
            elif stat.S_ISDIR(facts.st_mode):
                waiting.append(path)
                if whole:
                    folders.add(path)
            elif whole:
                found[path] = _facts(facts)
                if stat.S_ISREG(facts.st_mode) and facts.st_size <= keep_bytes:
                    regular.append((facts.st_mtime_ns, facts.st_size, path))
    kept = _kept(files, workspace, regular, stopped)
    return Tree(found, frozenset(folders), protected, frozenset(linked), kept, whole, renamed, left)


def _facts(facts: os.stat_result) -> Facts:
    return (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode)


def _kept(
    files: ContainedFiles, workspace: str, regular: Sequence[tuple[int, int, str]], stopped: Stopped
) -> Mapping[str, FileState]:
    kept: dict[str, FileState] = {}
    room = MAX_KEPT_BYTES
    for _, size, path in sorted(regular, reverse=True)[:MAX_KEPT_FILES]:
        if stopped() or size > room:
            continue
        try:
            state = files.state(path, workspace)
        except ToolError:  # not readable
            continue
        if state is not None:
            kept[path] = state
            room -= state.size
    return kept


@frozen
class Difference:
    """Paths that a command created, changed and deleted, sorted, without those of protected names."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]


def difference(before: Tree, after: Tree) -> Difference:
    """Nothing of an `after` that is not whole."""
    if not after.whole:
        return Difference((), (), ())
    changed = (path for path, facts in after.files.items() if before.files.get(path, facts) != facts)
    return Difference(
        created=tuple(sorted(after.files.keys() - before.files.keys())),
        changed=tuple(sorted(changed)),
        deleted=tuple(sorted(before.files.keys() - after.files.keys())),
    )


def missing_folders(path: str, before: Tree) -> tuple[str, ...]:
    """The folders above the path that did not exist before, the outermost first."""
    parts = path.split("/")[:-1]
    above = ["/".join(parts[: number + 1]) for number in range(len(parts))]
    return tuple(folder for folder in above if folder not in before.folders)


def defuse(files: ContainedFiles, workspace: str, path: str) -> str:
    """Blocking. Renames a file or folder, so that its name has no meaning any more, and returns the new path. It is
    not removed, because it may be another program's. OSError, or ToolError as ContainedFiles does."""
    above, _, name = path.rpartition("/")
    with files.open_folder(above or ".", workspace) as folder:
        for number in range(1, MAX_RENAMES):
            new = f"{name}.refused{number if number > 1 else ''}"
            try:
                rename_to_free_name(name, folder, new, folder)
            except FileExistsError:
                continue
            return f"{above}/{new}" if above else new
    raise FileExistsError(path)
