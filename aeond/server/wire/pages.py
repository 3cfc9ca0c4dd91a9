"""Pages of lists: sizes, and tokens that clients hand back without reading them."""

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic_core import from_json

from aeond.errors import InvalidInputError

DEFAULT_PAGE = 50
MAX_PAGE = 500
MAX_PAGE_BYTES = 1 << 20  # about: a page ends with the item that crosses it

Item = TypeVar("Item")


def page_size(asked: int) -> int:
    """How many items a page holds: 0 is the default, too many are lowered. OUT_OF_RANGE when negative."""
    if asked < 0:
        raise InvalidInputError("page_size must not be negative.", reason="OUT_OF_RANGE", field="page_size")
    return min(asked or DEFAULT_PAGE, MAX_PAGE)


def page_start(token: str, scope: str) -> str:
    """The key of the last item of the page before ("" for the first page).

    `scope` names the list and its filter: a token of another one is refused (reason BAD_PAGE_TOKEN).
    """
    if not token:
        return ""
    match _content(token):
        case [mark, str(key)] if mark == _mark(scope):
            return key
    raise InvalidInputError(
        "This page token is not of this list and filter: start again without one.",
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
    """What to show of `items`, which were asked for with one more than `size`, and the next page's token.

    `weight` is an item's size in bytes where items may be large: the page then ends early.
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
    """What a token holds; None for one that is none of ours."""
    try:
        content: object = from_json(base64.urlsafe_b64decode(token.encode("ascii")))
    except ValueError:
        return None
    return content


def _mark(scope: str) -> int:
    return zlib.crc32(scope.encode("utf-8", "replace"))
