"""Which files may have been meant by a name that there is none of.

People and small models get names almost right: another ending, a letter more, a folder left out. Who is told
the right name can go on with it at once, in place of looking for it first.
"""

import difflib
import itertools
import os
from pathlib import PurePosixPath
from typing import Final

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.errors import ToolError

MAX_NAMES: Final = 3
MAX_SEEN: Final = 5_000  # entries of one folder
_LIKENESS: Final = 0.5  # of two names, from 0 to 1
_STEM_CHARS: Final = 3  # a shorter part of a name says nothing


def similar_names(files: ContainedFiles, path: str, workspace: str) -> tuple[str, ...]:
    """Paths of what is named alike, the likeliest first; nothing where nothing is, or it may not be looked at.

    They lie in the folder of the path, or where that is missing too, in the nearest one above it. Blocking.
    """
    folder, name = os.path.split(path.rstrip("/"))
    while True:
        try:
            names = _names_in(files, folder or ".", workspace)
            break
        except ToolError as error:
            if error.reason != "FILE_NOT_FOUND" or not folder:
                return ()
            folder, missing = os.path.split(folder)
            name = f"{missing}/{name}"
    found: dict[str, None] = {}
    # The file itself first, then the folders that it was to be in.
    for wanted in dict.fromkeys(reversed(name.split("/"))):
        found |= dict.fromkeys(_like(wanted, names))
    return tuple(str(PurePosixPath(folder, name)) for name in [*found][:MAX_NAMES])


def _names_in(files: ContainedFiles, folder: str, workspace: str) -> list[str]:
    with files.open_folder(folder, workspace) as opened, os.scandir(opened) as entries:
        seen = (entry.name for entry in itertools.islice(entries, MAX_SEEN))
        return sorted(name for name in seen if not name.startswith(".") and name.isprintable())


def _like(wanted: str, names: list[str]) -> list[str]:
    """By the stems of the names: endings alone make any two alike."""
    stems = {name: _stem(name) for name in names}
    stem = _stem(wanted)
    close = difflib.get_close_matches(stem, [*dict.fromkeys(stems.values())], MAX_NAMES, _LIKENESS)
    holding = (its for its in stems.values() if len(stem) >= _STEM_CHARS and stem in its)
    return [name for its in dict.fromkeys((*close, *holding)) for name in names if stems[name] == its]


def _stem(name: str) -> str:
    return PurePosixPath(name).stem.casefold()
