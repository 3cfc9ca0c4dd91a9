"""Files of a run: inside its workspace and the folders that the configuration adds, and nowhere else.

Blocking: to be called in a thread. Everything is reached from a descriptor of the root that holds it, by a
`Resolver` that no path, link or race leads out of the root. Only regular files are opened, and only after
they were seen to be regular, so that no FIFO blocks and no device wakes up.
"""

import errno
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import Final
from weakref import WeakValueDictionary

from aeond.bound_folders import open_bound
from aeond.capabilities.tools.files.file_state import FileState, require_identity, state_of
from aeond.capabilities.tools.files.safe_open import Resolver, rename_to_free_name
from aeond.capabilities.tools.worker_threads import Stopped
from aeond.domain.tools import Workspace
from aeond.errors import ToolError

MAX_PATH_BYTES: Final = 4_096
MAX_NEW_FOLDERS: Final = 32

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Another process that holds a lease of the file would make us wait for a minute otherwise.
_READING: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_WRITING: Final = os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
_FAILURES: Final = {
    # errno: reason, words that follow the path, whether trying again can help
    errno.ENOENT: ("FILE_NOT_FOUND", "does not exist: list the folder to see what is there", False),
    errno.EXDEV: ("PATH_OUTSIDE", "leads out of the folders that this run may use", False),
    errno.ELOOP: ("PATH_OUTSIDE", "goes through a link that may not be followed", False),
    errno.ENOTDIR: ("NOT_A_FOLDER", "is no folder", False),
    errno.EISDIR: ("NOT_A_FILE", "is a folder", False),
    errno.EACCES: ("FILE_FORBIDDEN", "may not be used: its permissions forbid it", False),
    errno.EPERM: ("FILE_FORBIDDEN", "may not be used: its permissions forbid it", False),
    errno.EROFS: ("FILE_FORBIDDEN", "lies on a disk that is read-only", False),
    errno.ENAMETOOLONG: ("PATH_INVALID", "is too long for a path", False),
    errno.EAGAIN: ("FILE_BUSY", "is being moved about: try again", True),
    errno.EEXIST: ("FILE_BUSY", "is being written by another call: try again", True),
    errno.EBUSY: ("FILE_BUSY", "was changed by others during the call: try again", True),
    errno.ENOSPC: ("DISK_FULL", "cannot be written: the disk is full", True),
    errno.EDQUOT: ("DISK_FULL", "cannot be written: the disk quota is used up", True),
}


class ContainedFiles:
    """Opens and changes files below the workspace of a call or below one of the given absolute roots.

    Relative paths start at the workspace; absolute ones must lie in a root. Raises ToolError with reason
    PATH_INVALID, PATH_OUTSIDE, FILE_NOT_FOUND, NOT_A_FILE, NOT_A_FOLDER, FILE_FORBIDDEN, FILE_BUSY,
    DISK_FULL, WORKSPACE_MISSING, WORKSPACE_CHANGED, STOPPED or FILE_FAILED.
    """

    def __init__(
        self, resolve: Resolver, readable_roots: Sequence[str] = (), writable_roots: Sequence[str] = ()
    ) -> None:
        self._resolve = resolve
        self._writable = tuple(writable_roots)
        self._readable = (*writable_roots, *readable_roots)
        self._drafts: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._drafts_guard = threading.Lock()

    @contextmanager
    def open_file(self, path: str, workspace: str) -> Iterator[int]:
        """A descriptor of a regular file, to read from."""
        with _failures(path):
            with self._found(path, workspace) as found:
                mode = os.fstat(found).st_mode
                if not stat.S_ISREG(mode):
                    raise _not_a_file(path, mode)
                opened = os.open(f"/proc/self/fd/{found}", _READING)
            with _closing(opened):
                yield opened

    @contextmanager
    def open_folder(self, path: str, workspace: str) -> Iterator[int]:
        """A descriptor of a folder, to list."""
        with _failures(path):
            with self._found(path, workspace) as found:
                opened = os.open(".", _FOLDER, dir_fd=found)
            with _closing(opened):
                yield opened

    @property
    def roots(self) -> tuple[str, ...]:
        """The readable folders besides the workspace."""
        return self._readable

    def locate(self, path: str, workspace: str) -> tuple[str, str]:
        """The writable root that a path of a file names by its text, and the path from there without `.` parts."""
        root, below = _locate(path, workspace, self._writable)
        _require_name(below)
        return root, plain_path(below)

    def recorded_root(self, root: str, workspace: str) -> str:
        """The root of a recorded change: the workspace, with its identity and rights, or a writable root."""
        for known in (workspace, *self._writable):
            if root == known:
                return known
        raise ToolError(f"{_shown(root)} is not a folder that this run may change", reason="PATH_OUTSIDE")

    def place(self, path: str, workspace: str) -> tuple[str, bool | None]:
        """The absolute path that a path names, with links resolved as far as there is anything, and whether a folder (True),
        anything else (False) or nothing (None) is there.
        """
        with _failures(path), self._root(path, workspace, self._readable) as (root, below):
            there, missing = below.rstrip("/") or ".", ""
            while True:
                try:
                    with _closing(self._resolve(root, there)) as found:
                        real = os.readlink(f"/proc/self/fd/{found}")  # noqa: PTH115 - the text of the link, no path
                        if missing:
                            return f"{real.rstrip('/')}/{missing}", None
                        return real, stat.S_ISDIR(os.fstat(found).st_mode)
                except FileNotFoundError:
                    if there == ".":
                        raise
                    above, name = os.path.split(there)
                    there, missing = above or ".", f"{name}/{missing}" if missing else name

    def is_folder(self, path: str, workspace: str) -> bool | None:
        """Whether a folder (True) or anything else (False) is there; None for nothing."""
        try:
            with _failures(path), self._found(path, workspace) as found:
                return stat.S_ISDIR(os.fstat(found).st_mode)
        except ToolError as error:
            if error.reason in ("FILE_NOT_FOUND", "NOT_A_FOLDER"):
                return None
            raise

    def state(self, path: str, workspace: str) -> FileState | None:
        """The regular file that is there; None for nothing."""
        try:
            with self.open_file(path, workspace) as opened:
                return state_of(opened)
        except ToolError as error:
            if error.reason in ("FILE_NOT_FOUND", "NOT_A_FOLDER"):
                return None
            raise

    def missing_folders(self, path: str, workspace: str) -> tuple[str, ...]:
        """The folders that must be made for a file to be there, the outermost first."""
        missing: list[str] = []
        folder = os.path.split(path)[0]
        while folder not in ("", "/") and self.is_folder(folder, workspace) is None:
            missing.append(folder)
            folder = os.path.split(folder)[0]
        return tuple(reversed(missing))

    def write_file(
        self,
        path: str,
        workspace: str,
        content: bytes,
        mark: str,
        stopped: Stopped = lambda: False,
        *,
        expected: str | None = None,
        new_mode: int | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Puts a whole file in place, durably: readers see the old content or the new, never a part.

        Missing folders are made, unless something is to be done `meanwhile`, while the new content goes to disk. An existing file keeps its
        permissions, a new one gets `new_mode`; a link is not written through. `mark` distinguishes writers of one file and is the same when a
        call is repeated, so that a draft left by a crash is replaced; a writer waits for an abandoned one of the same mark. The old content
        stays if `meanwhile` raises, if the writer was `stopped` by then, and if it finds another identity than `expected` ("": no file): FILE_BUSY.
        """
        name = _require_name(path)
        with _failures(path), self._root(path, workspace, self._writable) as (root, below):
            above = os.path.split(below)[0] or "."
            folder = self._made_folder(root, above, 0 if meanwhile else MAX_NEW_FOLDERS)
            draft = f".{hashlib.sha256(os.fsencode(f'{mark}/{path}')).hexdigest()[:24]}.part"
            with _closing(folder), self._alone_with(draft):
                mode = _replaceable_mode(path, name, folder)
                self._require_writable(root, below)
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                try:
                    _write_draft(draft, folder, content, mode or new_mode, meanwhile or (lambda: None))
                    require_identity(name, folder, expected)
                    _require_going_on(path, stopped)  # another writer may have been here since
                    os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
                    os.fsync(folder)
                finally:
                    with suppress(OSError):  # gone already, unless something failed
                        os.unlink(draft, dir_fd=folder)

    def delete_file(self, path: str, workspace: str, expected: str, stopped: Stopped = lambda: False) -> None:
        """Deletes a regular file with the `expected` identity, durably; FILE_BUSY for another identity."""
        with _failures(path), self._entry(path, workspace) as (folder, name):
            require_identity(name, folder, expected)
            _require_going_on(path, stopped)
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    def move_file(self, path: str, to: str, workspace: str, stopped: Stopped = lambda: False) -> None:
        """Renames a regular file within its root, durably. Missing folders are made. FILE_EXISTS if the new
        path is taken."""
        root_of, target = self.locate(to, workspace)
        if root_of != self.locate(path, workspace)[0]:
            raise ToolError(
                f"{_shown(to)} is in another folder tree: copy the file instead", reason="PATH_OUTSIDE"
            )
        with _failures(path), self._entry(path, workspace) as (folder, name):
            with _failures(to), self._root(to, workspace, self._writable) as (root, _):
                with suppress(FileNotFoundError):  # a file that the resolver keeps out of may be missing
                    os.close(self._resolve(root, target))
                above, new_name = os.path.split(target)
                new_folder = self._made_folder(root, above or ".", MAX_NEW_FOLDERS)
            with _closing(new_folder):
                _require_going_on(path, stopped)
                try:
                    rename_to_free_name(name, folder, new_name, new_folder)
                except FileExistsError:
                    raise ToolError(
                        f"{_shown(to)} exists already: choose another name, or delete it first",
                        reason="FILE_EXISTS",
                        field="to",
                    ) from None
                os.fsync(new_folder)
                os.fsync(folder)

    def remove_folders(self, folders: Sequence[str], workspace: str) -> None:
        """Removes those of the folders that are empty, from the last to the first."""
        for path in reversed(folders):
            with suppress(OSError), self._root(path, workspace, self._writable) as (root, below):
                above, name = os.path.split(below)
                with _closing(self._resolve(root, above or ".")) as holder:
                    os.rmdir(name, dir_fd=holder)

    @contextmanager
    def _entry(self, path: str, workspace: str) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder of an existing regular file that may be changed, and its name there."""
        with self._root(path, workspace, self._writable) as (root, below):
            above, name = os.path.split(below)
            with _closing(self._resolve(root, above or ".")) as holder:
                folder = os.open(".", _FOLDER, dir_fd=holder)
            with _closing(folder):
                if name in ("", ".", "..") or _replaceable_mode(path, name, folder) is None:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
                os.close(self._resolve(root, below))  # the file itself may be protected
                yield folder, name

    def _require_writable(self, root: int, below: str) -> None:
        """OSError for a file, also a new one, that the resolver keeps out of, or that this thread may not write: replacing
        it needs only the right to write in its folder.
        """
        with suppress(FileNotFoundError), _closing(self._resolve(root, below)) as found:
            os.close(os.open(f"/proc/self/fd/{found}", _WRITING))

    def _alone_with(self, draft: str) -> threading.Lock:
        """The lock to hold while writing this draft."""
        with self._drafts_guard:
            return self._drafts.setdefault(draft, threading.Lock())

    def _made_folder(self, root: int, path: str, may_make: int) -> int:
        """A descriptor of the folder; missing ones are made on the way."""
        try:
            found = self._resolve(root, path)
        except FileNotFoundError:
            above, name = os.path.split(path.rstrip("/"))
            if may_make == 0 or name in ("", ".", ".."):
                raise
            with _closing(self._made_folder(root, above or ".", may_make - 1)) as holder:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=holder)
                os.fsync(holder)
            found = self._resolve(root, path)
        with _closing(found):
            return os.open(".", _FOLDER, dir_fd=found)

    @contextmanager
    def _found(self, path: str, workspace: str) -> Iterator[int]:
        with self._root(path, workspace, self._readable) as (root, below):
            found = self._resolve(root, below)
            with _closing(found):
                yield found

    @contextmanager
    def _root(self, path: str, workspace: str, roots: Sequence[str]) -> Iterator[tuple[int, str]]:
        """A descriptor of the root that a path lies in, and the path from there."""
        holder, below = _locate(path, workspace, roots)
        try:
            root = open_bound(holder, Workspace.identity_of(holder), Workspace.rights_of(holder))
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError(
                f"the folder {_shown(holder)} that this run should use does not exist",
                reason="WORKSPACE_MISSING",
            ) from None
        with _closing(root):
            yield root, below


def _locate(path: str, workspace: str, roots: Sequence[str]) -> tuple[str, str]:
    """The root and the path below it, by their names alone; whether it stays there the resolver tells."""
    if not path or "\0" in path:
        raise ToolError("a path must not be empty or hold NUL", reason="PATH_INVALID")
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise ToolError(f"{_shown(path)} is not Unicode", reason="PATH_INVALID") from None
    if size > MAX_PATH_BYTES:
        raise ToolError(f"a path has at most {MAX_PATH_BYTES} bytes", reason="PATH_INVALID")
    if path.startswith("/"):
        pure = PurePosixPath(path)
        for root in sorted((workspace, *roots), key=len, reverse=True):
            if root and pure.is_relative_to(root):
                ending = "/" if path.endswith("/") else ""
                return root, f"{pure.relative_to(root)}{ending}"
        raise ToolError(
            f"{_shown(path)} leads out of the folders that this run may use",
            reason="PATH_OUTSIDE",
            field="path",
        )
    if not workspace:
        raise ToolError(
            "this run has no folder to work in: give an absolute path", reason="WORKSPACE_MISSING"
        )
    return workspace, path


def _replaceable_mode(path: str, name: str, folder: int) -> int | None:
    """The permissions of the file that will be replaced; None when there is none."""
    try:
        mode = os.lstat(name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        raise ToolError(f"{_shown(path)} is a link: write to the file that it points to", reason="NOT_A_FILE")
    if not stat.S_ISREG(mode):
        raise _not_a_file(path, mode)
    if not mode & 0o222:
        raise ToolError(f"{_shown(path)} is write-protected", reason="FILE_FORBIDDEN")
    return stat.S_IMODE(mode) & 0o777


def _write_draft(name: str, folder: int, content: bytes, mode: int | None, then: Callable[[], None]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "wb") as draft:
        if mode is not None:
            os.fchmod(draft.fileno(), mode)
        draft.write(content)
        draft.flush()
        with suppress(OSError):  # Linux begins to write it to disk
            os.posix_fadvise(draft.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        then()
        os.fsync(draft.fileno())


def _require_name(path: str) -> str:
    name = path.rpartition("/")[2]
    if name in ("", ".", ".."):
        raise ToolError(f"{_shown(path)} names no file", reason="PATH_INVALID")
    return name


def plain_path(path: str) -> str:
    """The path without empty and `.` parts."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def _require_going_on(path: str, stopped: Stopped) -> None:
    if stopped():
        raise ToolError(f"the change of {_shown(path)} was stopped", reason="STOPPED")


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _failures(path: str) -> Iterator[None]:
    """Turns what the system says into words for people and reasons for programs."""
    try:
        yield
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else str(error)
        reason, said, retryable = _FAILURES.get(error.errno or 0, ("FILE_FAILED", f"failed: {words}", False))
        raise ToolError(f"{_shown(path)} {said}", reason=reason, field="path", retryable=retryable) from error


def _not_a_file(path: str, mode: int) -> ToolError:
    kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    return ToolError(f"{_shown(path)} is {kind}", reason="NOT_A_FILE", field="path")


def _shown(path: str) -> str:
    return repr(path if len(path) <= 200 else f"{path[:100]}...{path[-90:]}")
