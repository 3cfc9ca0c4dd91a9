"""Names of files and folders in a request, by form: whether a file does not exist yet, so that it is to be made."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from aeond.domain.names import TEXT_ENDINGS, close, same_form
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonValue
from aeond.orchestration.context.addresses import without_addresses

_NAME: Final = re.compile(
    r"(?<![\w./@-])(?:[\w.-]+/)*[\w-]{2,}(\.[a-z][a-z0-9]{0,4})(?![\w/])", re.IGNORECASE
)
_HIDDEN: Final = re.compile(r"(?:^|/)\.[^./]")

_QUOTATION_MARKS: Final = ('""', "''", "``", "“”", "„“", "«»", "\u2018\u2019", "\u201a\u2018")


def names_new_file(run: RunSnapshot, situation: Situation) -> bool:
    """Whether the request names a file that is none of those in view, nor spelt almost so."""
    return bool(new_names(run, situation))


def names_file(run: RunSnapshot, path: str) -> bool:
    """Whether the request has the name of this file as a word, outside of web addresses."""
    name = re.escape(_last(path))
    return re.search(rf"(?<![\w.-]){name}(?![\w-])", without_addresses(run.text), re.IGNORECASE) is not None


def names_path(run: RunSnapshot, path: str) -> bool:
    """Whether the request has this path whole, with its folders and no others."""
    text = without_addresses(run.text)
    return re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", text, re.IGNORECASE) is not None


def named_folder(run: RunSnapshot, situation: Situation) -> tuple[str, tuple[str, ...]]:
    """The one folder whose name the request has as a word, and the files in it; "" where it names none, or several, or a file, and where
    not all files are in view. A folder in which a new file is to lie does not count."""
    text = run.text
    for path in _unseen_paths(run, situation):
        text = text.replace(path, "")
    files: dict[str, list[str]] = {}
    for path, _ in situation.files:
        files.setdefault(path.rpartition("/")[0], []).append(path)
    asked = replace(run, resolved_text=text)
    named = [one for one in files if one and names_file(asked, one)]
    if (
        len(named) != 1
        or not situation.shows_all_files
        or any(names_file(run, path) for path, _ in situation.files)
    ):
        return "", ()
    return named[0], tuple(files[named[0]])


def spelt_as_named(call: ToolCall, run: RunSnapshot, situation: Situation, new_name: str = "") -> ToolCall:
    """The call with the names of new files spelt as in the request, where a small model has spelt them almost so, or has translated
    the only one that is named; and, in the argument `new_name`, in the folder that stands there."""
    paths = _unseen_paths(run, situation)
    names = tuple(map(_last, paths))
    made = str([step.step.tool_call for step in run.steps.values()])
    known = [path for path, _ in situation.files]
    spelt: dict[str, JsonValue] = {}
    for argument, value in call.arguments.items():
        if not isinstance(value, str):
            continue
        placed = [path for path in paths if "/" in path and _last(path) == _last(value)]
        if len(placed) == 1 and argument == new_name and value not in known:
            spelt[argument] = placed[0]
        if _last(value) in run.text:
            continue
        meant = [name for name in names if close(name, _last(value))]
        translated = value not in known and not any(name in made for name in names)
        if not meant and translated and len(names) == 1 and _is_like(names[0], value):
            meant = [*names]
        if len(meant) == 1:
            spelt[argument] = value.removesuffix(_last(value)) + meant[0]
    return replace(call, arguments={**call.arguments, **spelt})


def new_names(run: RunSnapshot, situation: Situation) -> tuple[str, ...]:
    """The names of new files, without their folders; none where not all files are in view."""
    return tuple(map(_last, new_paths(run, situation)))


def new_paths(run: RunSnapshot, situation: Situation) -> tuple[str, ...]:
    """New files as the request names them; none where not all files are in view.

    A word counts as the name of a file by its ending: that of a text, or of a file in view. A file in a hidden folder may exist: these folders
    are never in view. So none in them is known to be new, also not one that is.
    """
    return tuple(path for path in _unseen_paths(run, situation) if not _HIDDEN.search(path))


def _unseen_paths(run: RunSnapshot, situation: Situation) -> tuple[str, ...]:
    """The files of `new_paths`, and those that the request names in hidden folders, whether or not they exist."""
    if not situation.knows_all_files:
        return ()
    known = [_last(path) for path, _ in situation.files]
    endings = TEXT_ENDINGS | {f".{name.rpartition('.')[2].lower()}" for name in known if "." in name}
    text = without_addresses(run.text)
    named = [found[0] for found in _NAME.finditer(text) if found[1].lower() in endings]

    def is_known(name: str) -> bool:
        return any(same_form(name, one) or close(name, one) for one in known)

    new = dict.fromkeys(path for path in named if not is_known(_last(path)))
    placed = [_last(path) for path in new if "/" in path]  # and named again without the folder
    return tuple(path for path in new if placed.count(path) != 1)


def is_whole_name(text: str, name: str) -> bool:
    """Whether the text has nothing around this name that may belong to it: in quotation marks there is nothing else, and no further
    ending follows."""
    before, _, behind = text.partition(name)
    if re.match(r"\.\w", behind):
        return False
    for first, last in _QUOTATION_MARKS:
        # An apostrophe stands between two letters.
        found = len(re.findall(rf"(?<!\w){first}|{first}(?!\w)", before))
        is_inside = found % 2 == 1 if first == last else found > before.count(last)
        if is_inside and not (before.endswith(first) and behind.startswith(last)):
            return False
    return True


def existing_name(value: JsonValue, known: Collection[str], run: RunSnapshot) -> str:
    """The known name that the value is, or of which it is all but the folders; "" if there is none. A name that stands in the request is
    taken as it is: a file of that name may be wanted in another folder."""
    if not isinstance(value, str):
        return ""
    same = [one for one in known if one == value] or [one for one in known if _last(one) == value]
    return same[0] if len(same) == 1 and (same[0] == value or not names_file(run, value)) else ""


def _is_like(name: str, value: str) -> bool:
    """Whether the value is the name of a file of the same kind."""
    found = _NAME.fullmatch(value)
    return found is not None and name.lower().endswith(found[1].lower())


def _last(path: str) -> str:
    return path.rpartition("/")[2]
