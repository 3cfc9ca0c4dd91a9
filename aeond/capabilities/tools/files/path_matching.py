"""Finds the file or folder that a path means, although it is not written exactly so.

People and small models get names almost right: another case, no extension, a folder too many or too few, quotes, a
letter more. A path is accepted if exactly one existing thing fits it, by the first of the degrees below that any
thing fits. Blocking: to be called in a thread.
"""

import unicodedata
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, Final

from aeond.capabilities.tools.files.contained_files import ContainedFiles, plain_path
from aeond.capabilities.tools.files.previews import Places, places
from aeond.capabilities.tools.function_tool import Propose, Report
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.domain.names import close, nearest, same_form, words_of
from aeond.domain.policy import Access, Target, TargetKind
from aeond.domain.tools import ToolContext
from aeond.errors import ToolError
from aeond.frozen import frozen

MAX_NAMED: Final = 5  # candidates in an error
MAX_ROOT_ENTRIES: Final = 500  # looked at in each readable folder besides the workspace
_SHORT_CHARS: Final = 120  # up to here, a text is a name; beyond, it is a request with names in it
_ALIKE: Final = 0.4
_QUOTES: Final = ("''", '""', "``", "\u201c\u201d", "\u2018\u2019", "\u00ab\u00bb", "\u201e\u201c")


class Wanted(StrEnum):
    """Which things a path may mean."""

    FILE = "file"
    FOLDER = "folder"
    ANY = "file or folder"


@frozen
class PathMatching:
    """Finds existing files and folders by imprecise paths."""

    files: ContainedFiles

    def find(self, path: str, workspace: str, wanted: Wanted, stopped: Stopped) -> str:
        """The path of the one existing thing that `path` can mean.

        Raises ToolError with field `path` and candidates: FILE_NOT_FOUND, PATH_AMBIGUOUS if several fit, NOT_A_FILE
        for a folder; PATH_OUTSIDE and others as ContainedFiles does.
        """
        return self._matched(path, workspace, wanted, _DEGREES, stopped)

    def find_same(self, path: str, workspace: str, stopped: Stopped) -> str:
        """The existing file with this path, allowing only differences in case, Unicode form, quotes and a leading
        slash: for changes that lose content. Raises ToolError as `find` does."""
        return self._matched(path, workspace, Wanted.FILE, _DEGREES[:1], stopped)

    def candidates(
        self,
        workspace: str,
        wanted: Wanted,
        limit: int,
        near: str,
        stopped: Stopped,
        endings: Collection[str] = (),
    ) -> Sequence[str]:
        """Existing paths, with `endings` those alone whose name has one of them (in small letters), those nearest to the text first if
        there are more than `limit`. () if there are fewer but not all were seen: a list that is not full counts as complete."""
        seen = self._places(workspace, stopped)
        names = [name for name in _of_kind(seen, wanted) if name.isprintable()]
        names = [name for name in names if not endings or PurePosixPath(name).suffix.lower() in endings]
        if len(names) <= limit:
            return names if seen.whole else ()
        return _ranked(near, names)[:limit]

    def _matched(
        self, path: str, workspace: str, wanted: Wanted, degrees: "Sequence[_Degree]", stopped: Stopped
    ) -> str:
        outside: ToolError | None = None
        for form in _forms(path):
            try:
                is_folder = self.files.is_folder(form, workspace)
            except ToolError as error:
                if error.reason != "PATH_OUTSIDE" or not path.strip().startswith("/"):
                    raise
                outside = outside or error
                continue
            if is_folder is False and wanted is Wanted.FOLDER:
                return form  # the caller lists the file itself
            if is_folder and wanted is Wanted.FILE:
                raise self._not_a_file(form, workspace, stopped)
            if is_folder is not None:
                return form
        asked = _forms(path)[-1]
        seen = self._places(workspace, stopped)
        names = _of_kind(seen, wanted)
        for fits in degrees[:1] if outside else degrees:
            found = [name for name in names if fits(asked, name)]
            if len(found) > 1:
                found = [name for name in found if _same(_folder(asked), _folder(name))] or found
            if len(found) == 1:
                return found[0]
            if found:
                raise _failure(f"{path!r:.200} can mean several", "PATH_AMBIGUOUS", found)
        if outside:
            raise outside
        alike = nearest(asked, names, MAX_NAMED, least=_ALIKE)
        raise _failure(f"{path!r:.200} does not exist", "FILE_NOT_FOUND", alike or names)

    def _places(self, workspace: str, stopped: Stopped) -> Places:
        """The places of the workspace, and with absolute paths those of the readable folders."""
        found = places(self.files, workspace, stopped) if workspace else Places((), (), whole=True)
        files, folders, whole = list(found.files), list(found.folders), found.whole
        for root in self.files.roots:
            try:
                there = places(self.files, root, stopped, MAX_ROOT_ENTRIES)
            except ToolError:
                continue
            files += (f"{root.rstrip('/')}/{name}" for name in there.files)
            folders += (f"{root.rstrip('/')}/{name}" for name in there.folders)
            whole = whole and there.whole
        return Places(tuple(files), tuple(folders), whole)

    def _not_a_file(self, folder: str, workspace: str, stopped: Stopped) -> ToolError:
        inside = [
            name
            for name in self._places(workspace, stopped).files
            if PurePosixPath(name).is_relative_to(folder)
        ]
        return _failure(f"{folder!r:.200} is a folder", "NOT_A_FILE", inside)


def proposing(
    files: ContainedFiles, threads: WorkerThreads, wanted: Wanted, endings: Collection[str] = ()
) -> Propose:
    """The candidates of a path argument, for a tool that takes all kinds of files, or those with these endings."""
    matching = PathMatching(files)

    async def propose(context: ToolContext, limit: int, near: str) -> Sequence[str]:
        return await threads.run(
            lambda stopped: matching.candidates(context.workspace, wanted, limit, near, stopped, endings)
        )

    return propose


def reading(files: ContainedFiles, threads: WorkerThreads, wanted: Wanted) -> Report:
    """The targets of a tool that reads its argument `path`, for the policy."""
    matching = PathMatching(files)

    async def report(arguments: Any, context: ToolContext) -> tuple[Target, ...]:
        def found(stopped: Stopped) -> tuple[Target, ...]:
            path = matching.find(arguments.path, context.workspace, wanted, stopped)
            return (file_target(files, path, context.workspace, Access.READ),)

        return await threads.run(found)

    return report


def exact_file(files: ContainedFiles, path: str, workspace: str, access: Access) -> tuple[str, Target] | None:
    """The path and the file, if a path names exactly a file that exists: what `find` and `find_same` find then, with one
    look at the disk. None for anything else."""
    plain = plain_path(path)
    try:
        name, is_folder = files.place(plain, workspace)
    except ToolError:
        return None
    return (plain, Target(TargetKind.FILE, name, access, exists=True)) if is_folder is False else None


def file_target(files: ContainedFiles, path: str, workspace: str, access: Access) -> Target:
    """The file or folder that a path names; the name of a folder ends in a slash."""
    name, is_folder = files.place(path, workspace)
    return Target(TargetKind.FILE, f"{name}/" if is_folder else name, access, is_folder is not None)


def _failure(problem: str, reason: str, names: Sequence[str]) -> ToolError:
    few = tuple(name for name in names if name.isprintable())[:MAX_NAMED]
    rest = f"; there is {', '.join(map(repr, few))}" if few else "; there are no files"
    return ToolError(problem + rest, reason=reason, field="path", candidates=few)


def _of_kind(seen: Places, wanted: Wanted) -> Sequence[str]:
    match wanted:
        case Wanted.FILE:
            return seen.files
        case Wanted.FOLDER:
            return seen.folders
        case Wanted.ANY:
            return (*seen.files, *seen.folders)


def bare_path(path: str) -> str:
    """The path without surrounding spaces and quotes, with slashes for backslashes."""
    bare = path.strip()
    for opening, closing in _QUOTES:
        if len(bare) > 2 and bare[0] == opening and bare[-1] == closing:
            bare = bare[1:-1].strip()
    return bare if "/" in bare else bare.replace("\\", "/")


def _forms(path: str) -> tuple[str, ...]:
    """The path as given, without what surrounds it, and below the workspace."""
    bare = bare_path(path)
    forms = (plain_path(path), plain_path(bare), plain_path(bare.lstrip("/")))
    return tuple(dict.fromkeys(form or "." for form in forms))


def _ranked(request: str, names: Sequence[str]) -> Sequence[str]:
    """The names nearest to a text: for a whole request those that share most words with it."""
    if not request:
        return names
    if len(request) <= _SHORT_CHARS:
        return nearest(request, names, len(names))
    asked = set(words_of(request))
    return sorted(names, key=lambda name: -len(asked.intersection(words_of(name))))


_Degree = Callable[[str, str], bool]
"""Whether a name fits an asked path."""


def _same(asked: str, name: str) -> bool:
    """Equal but for case and Unicode form."""
    return _plain(asked) == _plain(name)


def _same_in_other_folder(asked: str, name: str) -> bool:
    return _same(_last(asked), _last(name))


def _same_stem(asked: str, name: str) -> bool:
    return "." not in _last(asked) and _same(_last(asked), _stem(name))


def _formed_alike(asked: str, name: str) -> bool:
    return same_form(_last(asked), _last(name)) or same_form(_stem(asked), _stem(name))


def _spelt_alike(asked: str, name: str) -> bool:
    return close(_stem(asked), _stem(name))


_DEGREES: Final[tuple[_Degree, ...]] = (
    _same,
    _same_in_other_folder,
    _same_stem,
    _formed_alike,
    _spelt_alike,
)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _stem(path: str) -> str:
    return PurePosixPath(path).stem
