"""Private copies of a workspace, and what differs in them afterwards.

A copy has the files that the repository does not ignore, and neither its data nor anything that configures Aider or
holds keys. All functions block.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from aeond.bound_folders import open_bound
from aeond.capabilities.aider.proposals import FileProposal, proposed
from aeond.capabilities.policy.protected_names import protected_name
from aeond.capabilities.sandbox.workspace_archive import ParcelError, pack, unpack
from aeond.capabilities.tools.files.file_state import NO_FILE, identity_of
from aeond.domain.names import nearest
from aeond.domain.tools import Workspace
from aeond.errors import ToolError
from aeond.thread_rights import acting_as

MAX_CHANGED: Final = 64
MAX_FILE_BYTES: Final = 1 << 20
MAX_SMALL_FILES: Final = 6
MAX_SMALL_BYTES: Final = 12_000
NEAREST: Final = 3
_CONFIGURES: Final = (".env", ".env.local")


def kept(name: str) -> bool:
    """Whether a copy has a file or folder of this name."""
    last = PurePosixPath(name).name
    return not (protected_name(name) or last.startswith(".aider") or last in _CONFIGURES)


def packed(workspace: str, listed: frozenset[str] | None) -> bytes:
    """The archive of a workspace, read with the rights of its user; of a repository only the `listed` files. ToolError
    (reason WORKSPACE_TOO_LARGE, WORKSPACE_CHANGED)."""

    def work() -> bytes:
        folder = open_bound(workspace, Workspace.identity_of(workspace), Workspace.rights_of(workspace))
        try:
            return pack(Path(f"/proc/self/fd/{folder}"), keeps=_wanted(listed))
        except (ParcelError, OSError) as error:
            raise ToolError(
                f"{workspace} cannot be copied: {error}: work in a smaller folder, or let git ignore what is built",
                reason="WORKSPACE_TOO_LARGE",
            ) from error
        finally:
            os.close(folder)

    return acting_as(Workspace.rights_of(workspace), work)


def _wanted(listed: frozenset[str] | None) -> Callable[[str], bool]:
    if listed is None:
        return kept
    folders = {str(above) for name in listed for above in PurePosixPath(name).parents}
    return lambda name: (name in listed or name in folders) and kept(name)


class Worktree:
    """A private copy below a folder of the daemon, and the contents that it began with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        }

    def changes(self, names: Sequence[str]) -> tuple[list[FileProposal], list[str]]:
        """The changes of those files that a proposal may have, sorted, and the names of the others. Its content is not
        trusted. ToolError (reason PROPOSAL_TOO_LARGE)."""
        if len(names) > MAX_CHANGED:
            raise ToolError(f"Aider changed {len(names)} files, too many", reason="PROPOSAL_TOO_LARGE")
        found: list[FileProposal] = []
        refused: list[str] = []
        for name in sorted(set(names)):
            before = self.before.get(name)
            if not (kept(name) and _is_below(name)):
                refused.append(name)
                continue
            after = self._content(name)
            if after != before:
                found.append(proposed(name, NO_FILE if before is None else identity_of(before), after))
        return found, refused

    def _content(self, name: str) -> bytes | None:
        """The content of a regular file that no link leads to; None if there is none."""
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
        except OSError as error:
            raise ToolError(f"{name!r:.200} is no regular file", reason="PROPOSAL_INVALID") from error
        finally:
            os.close(here)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ToolError(f"{name!r:.200} is no regular file", reason="PROPOSAL_INVALID")
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise ToolError(
                f"{name!r:.200} is larger than {MAX_FILE_BYTES >> 20} MiB", reason="PROPOSAL_TOO_LARGE"
            )
        return content


@contextmanager
def worktree(parent: Path, parcel: bytes) -> Iterator[Worktree]:
    """A copy while the context is open."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="work-", dir=parent, ignore_cleanup_errors=True) as name:
        unpack(parcel, Path(name))
        yield Worktree(Path(name))


def clear(parent: Path) -> None:
    """Removes the copies that a killed daemon left."""
    for left in parent.glob("work-*"):
        with suppress(OSError):
            shutil.rmtree(left)


def context_files(tree: Worktree, task: str, test: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that the task is about, to change and to read: all of a small folder, else those that it names, else those
    with the nearest names. Tests are only read where there is anything else."""
    texts = {name: content for name, content in tree.before.items() if b"\0" not in content}
    whole = sum(map(len, texts.values()))
    if len(texts) <= MAX_SMALL_FILES and whole <= MAX_SMALL_BYTES:
        chosen = sorted(texts)
    else:
        said = " ".join((task, *test))
        chosen = [name for name in sorted(texts) if _named(name, said)][:MAX_SMALL_FILES]
        chosen = chosen or list(nearest(said, sorted(texts), NEAREST))
    tests = tuple(name for name in chosen if _is_test(name))
    rest = tuple(name for name in chosen if name not in tests)
    return (rest, tests) if rest else (tests, ())


def _is_below(name: str) -> bool:
    path = PurePosixPath(name)
    return name == str(path) and bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _named(name: str, said: str) -> bool:
    path = PurePosixPath(name)
    return name in said or path.name in said or (len(path.stem) > 3 and path.stem in said)


def _is_test(name: str) -> bool:
    path = PurePosixPath(name)
    return path.stem.startswith("test_") or path.stem.endswith("_test") or "tests" in path.parts[:-1]
