"""Pages of lists: sizes and opaque tokens."""

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic_core import from_json

from aeond.errors import InvalidInputError

DEFAULT_PAGE = 50
MAX_PAGE = 500
MAX_PAGE_BYTES = 1 << 20  # approximate: a page ends with the item that exceeds it

Item = TypeVar("Item")


def page_size(asked: int) -> int:
    """The number of items per page: 0 means the default, large values are capped. OUT_OF_RANGE if
    negative.
    """
    if asked < 0:
        raise InvalidInputError("page_size must not be negative.", reason="OUT_OF_RANGE", field="page_size")
    return min(asked or DEFAULT_PAGE, MAX_PAGE)


def page_start(token: str, scope: str) -> str:
    """The key of the last item of the preceding page ("" for the first page).

    `scope` identifies the list and its filter; a token for another scope is rejected (reason BAD_PAGE_TOKEN).
    """
    if not token:
        return ""
    match _content(token):
        case [mark, str(key)] if mark == _mark(scope):
            return key
    raise InvalidInputError(
        "This page token belongs to another list or filter: restart without one.",
        reason="BAD_PAGE_TOKEN",
        field="page_token",
    )


def page_of(
    items: Sequence[Item],
    size: int,
    scope: str,
    key: Callable[[Item], str],
    weight: Callable[[Item], int] = lambda _: 0,
) -> tuple[Sequence[Item], str]:
    """The items to show and the next page's token. `items` were requested with one more than `size`.

    `weight` is an item's size in bytes, for large items: the page then ends early.
    """
    shown: list[Item] = []
    total = 0
    for item in items[:size]:
        shown.append(item)
        total += weight(item)
        if total >= MAX_PAGE_BYTES:
            break
    if len(shown) == len(items):
        return shown, ""
    return shown, _token(key(shown[-1]), scope)


def _token(key: str, scope: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([_mark(scope), key]).encode()).decode()


def _content(token: str) -> object:
    """The content of a token; None if the token is invalid."""
    try:
        content: object = from_json(base64.urlsafe_b64decode(token.encode("ascii")))
    except ValueError:
        return None
    return content


def _mark(scope: str) -> int:
    return zlib.crc32(scope.encode("utf-8", "replace"))
