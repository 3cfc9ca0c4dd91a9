"""What a call is, as data: what is sent where, how the reply is read, whether it may be repeated and how
long it may take. The async and the sync client make calls; what calls there are is said once, in `calls`
and `run_calls`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from aeond_client.errors import InvalidInputError

T = TypeVar("T")

PAGE_SIZE = 100
# What the daemon takes as one message; gRPC would say so less clearly.
MAX_REQUEST_BYTES = 4 << 20
# What only looks something up, what may wait for a commit, what may wait for work.
LOOK_SECONDS = 10.0
CHANGE_SECONDS = 30.0
GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call: `repeatable` says that asking again does no harm, `seconds` is its deadline.

    Making one raises InvalidInputError (reason REQUEST_TOO_LARGE) when the daemon would not take it.
    """

    method: MethodDescriptor
    request: Message
    reply: type[Message]
    read: Callable[[Any], T]
    repeatable: bool
    seconds: float

    def __post_init__(self) -> None:
        size = self.request.ByteSize()
        if size > MAX_REQUEST_BYTES:
            raise InvalidInputError(
                f"The request has {size} bytes, and the daemon takes {MAX_REQUEST_BYTES}: put what is large "
                "into a file of the workspace.",
                reason="REQUEST_TOO_LARGE",
            )

    @property
    def path(self) -> str:
        return path_of(self.method)


def path_of(method: MethodDescriptor) -> str:
    """A method as gRPC names it."""
    return f"/{method.containing_service.full_name}/{method.name}"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list; `next_page_token` is "" on the last one."""

    items: tuple[T, ...]
    next_page_token: str


PageCall = Callable[[str, int], Call[Page[T]]]
"""Makes the call for the page that a token names, of at most so many items."""


def page_of(field: str, read: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    def read_page(reply: Any) -> Page[T]:
        items: Sequence[Any] = getattr(reply, field)
        return Page(tuple(read(item) for item in items), reply.next_page_token)

    return read_page


def json_text(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"This value cannot be JSON: {error}.", reason="INVALID_JSON") from error


def check_unicode(field: str, *texts: str) -> None:
    """InvalidInputError (reason NOT_UTF_8) when what is to go into the field cannot be sent: a folder's name
    may be any bytes, and JSON may hold half a character."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInputError(
                f"{text[:60]!a} is no UTF-8: see its character {error.start + 1}.",
                reason="NOT_UTF_8",
                field=field,
            ) from error
