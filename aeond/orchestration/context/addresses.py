"""Web addresses in a request, by form."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

_CHARACTER: Final = r"(?!,https?://)[^\s<>\"'`|\[\]\u2013\u2014\u2018-\u201f\u00ab\u00bb]"
_ADDRESS: Final = re.compile(rf"https?://(?:\[[0-9a-f:.]+\]|\w)(?:{_CHARACTER}){{0,2000}}", re.IGNORECASE)
_HOST: Final = re.compile(
    r"(?<![\w.@-])(?:https?://|localhost\b|\d{1,3}(?:\.\d{1,3}){3}\b|[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}(?![\w-]))",
    re.IGNORECASE,
)
_PATH: Final = re.compile(r"/[\w./-]*")
_BEHIND: Final = ".,;:!?*_\u2026\u3001\u3002\uff0c"
_BRACKETS: Final = (("(", ")"), ("[", "]"), ("{", "}"))


def addresses_in(text: str) -> tuple[str, ...]:
    """The addresses with their scheme, each once, in the order of the text, without the punctuation behind them."""
    return tuple(dict.fromkeys(_without_end(found[0]) for found in _ADDRESS.finditer(text)))


def may_have_address(text: str, files: Collection[str] = ()) -> bool:
    """Whether a word of the text has the form of an address, with or without its scheme, and is not the name of one of these files.

    Of a name with blanks the last word counts too. Names of folders do not: they may be those of sites.
    """
    paths = {path.casefold() for path in files}
    names = {re.split(r"[\s/]", path)[-1] for path in paths}
    for found in _HOST.finditer(text):
        whole = found[0].casefold()
        if path := _PATH.match(text, found.end()):
            is_name = (whole + path[0].casefold()).rstrip(_BEHIND) in paths
        else:
            is_name = whole in names
        if not is_name:
            return True
    return False


@lru_cache(maxsize=32)
def without_addresses(text: str) -> str:
    """The text without the addresses: the end of one looks like the name of a file."""
    return _ADDRESS.sub(lambda found: found[0].removeprefix(_without_end(found[0])), text)


def _without_end(address: str) -> str:
    """The address without punctuation and brackets behind it that belong to the sentence."""
    while True:
        shorter = address.rstrip(_BEHIND)
        for opening, closing in _BRACKETS:
            if shorter.endswith(closing) and shorter.count(opening) < shorter.count(closing):
                shorter = shorter[:-1]
        if shorter == address:
            return address
        address = shorter
