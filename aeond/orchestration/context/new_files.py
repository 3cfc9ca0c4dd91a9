"""Names of files in a request, by form: whether one of them does not exist yet, so that it is to be made."""

import re
from typing import Final

from aeond.domain.names import TEXT_ENDINGS, close, same_form
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation

_NAME: Final = re.compile(
    r"(?<![\w./@-])(?:[\w.-]+/)*[\w-]{2,}(\.[a-z][a-z0-9]{0,4})(?![\w/])", re.IGNORECASE
)


def names_new_file(run: RunSnapshot, situation: Situation) -> bool:
    """Whether the request names a file that is none of those in view, nor spelt almost so. False where not all are in view.

    A word counts as the name of a file by its ending: that of a text, or of a file in view.
    """
    if not situation.shows_all_files:
        return False
    known = [_last(path) for path, _ in situation.files]
    endings = TEXT_ENDINGS | {f".{name.rpartition('.')[2].lower()}" for name in known if "." in name}
    named = [_last(found[0]) for found in _NAME.finditer(run.text) if found[1].lower() in endings]
    return any(not any(same_form(name, one) or close(name, one) for one in known) for name in named)


def _last(path: str) -> str:
    return path.rpartition("/")[2]
