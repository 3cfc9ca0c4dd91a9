"""Private copies of a workspace, and what differs in them afterwards.

A copy has the files that the repository does not ignore, and neither its data nor anything that configures Aider or
holds keys, nor the daemon's own files. All functions block.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from aeond.bound_folders import open_bound
from aeond.capabilities.aider.proposals import FileProposal, proposed
from aeond.capabilities.aider.tests_found import is_code, is_test
from aeond.capabilities.policy.protected_names import protected_name
from aeond.capabilities.sandbox.workspace_archive import ParcelError, pack, unpack
from aeond.capabilities.tools.files.file_state import NO_FILE, identity_of
from aeond.domain.names import nearest
from aeond.domain.tools import Workspace
from aeond.errors import ToolError
from aeond.frozen import frozen
from aeond.thread_rights import acting_as

MAX_CHANGED: Final = 64
MAX_FILE_BYTES: Final = 1 << 20
MAX_SMALL_FILES: Final = 6
MAX_SMALL_BYTES: Final = 12_000
NEAREST: Final = 3
_CONFIGURES: Final = (".env", ".env.local")

# Why files are left out of a proposal.
DANGEROUS: Final = "the names can run code or hold keys"
NO_NAME: Final = "the names are no paths of files in the folder"
IRREGULAR: Final = "they are links or no regular files"
REPLACED: Final = "a file or link is where a folder was"
TOO_LARGE: Final = f"they are larger than {MAX_FILE_BYTES >> 20} MiB"
TOO_MANY: Final = f"a proposal has at most {MAX_CHANGED} files"


def kept(name: str) -> bool:
    """Whether a copy has a file or folder of this name."""
    last = PurePosixPath(name).name
    return not (protected_name(name) or last.startswith(".aider") or last in _CONFIGURES)


def packed(workspace: str, listed: frozenset[str] | None, hidden: Sequence[Path]) -> bytes:
    """The archive of a workspace without the `hidden` files and folders, read with the rights of its user; of a repository
    only the `listed` files. ToolError (reason WORKSPACE_TOO_LARGE, WORKSPACE_CHANGED)."""
    left_out = _identities(hidden)  # with the daemon's rights: the user may not see where they are

    def work() -> bytes:
        folder = open_bound(workspace, Workspace.identity_of(workspace), Workspace.rights_of(workspace))
        try:
            return pack(Path(f"/proc/self/fd/{folder}"), keeps=_wanted(listed), hidden=left_out)
        except (ParcelError, OSError) as error:
            raise ToolError(
                f"{workspace} cannot be copied: {error}: work in a smaller folder, or let git ignore what is built",
                reason="WORKSPACE_TOO_LARGE",
            ) from error
        finally:
            os.close(folder)

    return acting_as(Workspace.rights_of(workspace), work)


def _identities(places: Sequence[Path]) -> frozenset[tuple[int, int]]:
    found = set[tuple[int, int]]()
    for place in places:
        with suppress(OSError):  # nothing is there, or nothing that even the daemon may read
            facts = place.stat()
            found.add((facts.st_dev, facts.st_ino))
    return frozenset(found)


def _wanted(listed: frozenset[str] | None) -> Callable[[str], bool]:
    if listed is None:
        return kept
    folders = _folders_of(listed)
    return lambda name: (name in listed or name in folders) and kept(name)


def _folders_of(names: Iterable[str]) -> frozenset[str]:
    return frozenset(str(above) for name in names for above in PurePosixPath(name).parents)


class Worktree:
    """A private copy below a folder of the daemon, and the contents that it began with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        }
        self._folders = _folders_of(self.before)

    def changes(self, names: Sequence[str]) -> tuple[list[FileProposal], Mapping[str, str]]:
        """The changes of those files that a proposal may have, sorted, and why the others are left out, by their names. Its
        content is not trusted. Of too many changes, those of files that exist come first and deletions last, so that no
        file is deleted whose new place is left out."""
        written: list[FileProposal] = []
        deleted: list[FileProposal] = []
        left_out: dict[str, str] = {}
        for name in sorted(set(names), key=lambda name: (name not in self.before, name)):
            before = self.before.get(name)
            try:
                after = self._content(name)
            except _UnfitError as error:
                left_out[name] = str(error)
                continue
            if after == before:
                continue
            if after is not None and len(written) == MAX_CHANGED:
                left_out[name] = TOO_MANY
                continue
            change = proposed(name, NO_FILE if before is None else identity_of(before), after)
            (deleted if after is None else written).append(change)
        room = MAX_CHANGED - len(written)
        left_out |= {one.path: TOO_MANY for one in deleted[room:]}
        return sorted((*written, *deleted[:room]), key=lambda one: one.path), left_out

    def _content(self, name: str) -> bytes | None:
        """The content of a regular file that no link leads to; None if there is none. _UnfitError if it cannot be a part of a
        proposal."""
        if not kept(name):
            raise _UnfitError(DANGEROUS)
        if not _is_below(name):
            raise _UnfitError(NO_NAME)
        here = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            *above, last = PurePosixPath(name).parts
            for part in above:
                below = os.open(
                    part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here
                )
                os.close(here)
                here = below
            opened = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
        except FileNotFoundError:
            return None
        except NotADirectoryError as error:  # of a link, too: its target is another folder
            raise _UnfitError(REPLACED) from error
        except OSError as error:
            raise _UnfitError(IRREGULAR) from error
        finally:
            os.close(here)
        try:
            return self._read(name, opened)
        finally:
            os.close(opened)

    def _read(self, name: str, opened: int) -> bytes | None:
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode) and name in self.before:
            return None  # the files in the folder have names of their own
        if not stat.S_ISREG(mode):
            raise _UnfitError(IRREGULAR)
        if name in self._folders:  # apply_changes deletes files, and no folders
            raise _UnfitError(REPLACED)
        with os.fdopen(opened, "rb", closefd=False) as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise _UnfitError(TOO_LARGE)
        return content


class _UnfitError(Exception):
    """Why a file cannot be a part of a proposal."""


@contextmanager
def worktree(parent: Path, parcel: bytes) -> Iterator[Worktree]:
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="work-", dir=parent, ignore_cleanup_errors=True) as name:
        unpack(parcel, Path(name))
        yield Worktree(Path(name))


def clear(parent: Path) -> None:
    """Removes the copies that a killed daemon left."""
    for left in parent.glob("work-*"):
        with suppress(OSError):
            shutil.rmtree(left)


@frozen
class Chosen:
    """The files that a task is about: to change, and to read only. Of `tests` the files are to be changed unless they fail."""

    files: tuple[str, ...]
    read: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


def context_files(tree: Worktree, task: str, test: Sequence[str]) -> Chosen:
    """All files of a small folder, else those that the task names, else those with the nearest names. Beside source code, other files are only
    read unless they are named; tests are apart where there is anything else."""
    texts = {name: content for name, content in tree.before.items() if b"\0" not in content}
    whole = sum(map(len, texts.values()))
    said = " ".join((task, *test))
    if len(texts) <= MAX_SMALL_FILES and whole <= MAX_SMALL_BYTES:
        found = sorted(texts)
    else:
        found = [name for name in sorted(texts) if _named(name, said)][:MAX_SMALL_FILES]
        found = found or list(nearest(said, sorted(texts), NEAREST))
    tests = tuple(name for name in found if is_test(name))
    rest = tuple(name for name in found if name not in tests)
    if not rest:
        return Chosen(tests)
    files = tuple(name for name in rest if is_code(name) or _named(name, said)) or rest
    return Chosen(files, tuple(name for name in rest if name not in files), tests)


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    is_text = "\0" not in name and name.encode(errors="ignore").decode() == name
    return (
        is_text
        and name == str(path)
        and bool(path.parts)
        and not path.is_absolute()
        and ".." not in path.parts
    )


def _named(name: str, said: str) -> bool:
    path = PurePosixPath(name)
    return name in said or path.name in said or (len(path.stem) > 3 and path.stem in said)
