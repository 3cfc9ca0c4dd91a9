"""JSON pointers (RFC 6901) and references such as `#/$defs/name`."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote


def pointer(path: Sequence[str | int]) -> str:
    """The JSON pointer to a place: empty for the whole value."""
    return "".join(map(pointer_token, path))


def pointer_token(name: str | int) -> str:
    """One step of a JSON pointer, with the slash before it."""
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def referenced(root: Any, reference: str) -> Any:
    """The part of a document to which a reference points. LookupError if there is none, or if it is in another document."""
    start, *tokens = reference.split("/")
    if start != "#":
        raise LookupError(reference)
    found = root
    for token in tokens:
        name = unquote(token).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found[name]
        elif isinstance(found, list | tuple) and name.isdecimal():
            found = found[int(name)]
        else:
            raise LookupError(reference)
    return found
