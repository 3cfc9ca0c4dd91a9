"""Calls as data: request, method, reader of the reply, whether it can be repeated, and deadline. The async
and the sync client execute them; `calls` and `run_calls` define them once.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.protobuf.descriptor import Descriptor, FileDescriptor, MethodDescriptor
from google.protobuf.message import Message

from aeond_client.errors import InvalidInputError

T = TypeVar("T")

PAGE_SIZE = 100
# The daemon's maximum message size; gRPC's own error would be less clear.
MAX_REQUEST_BYTES = 4 << 20
# Deadlines of calls that only read, that may wait for a commit, and that may wait for work.
LOOK_SECONDS = 10.0
CHANGE_SECONDS = 30.0
GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call: `read` reads each message of its reply, `repeatable` means that repeating is harmless,
    `seconds` is its deadline.

    Constructing one raises InvalidInputError (reason REQUEST_TOO_LARGE) if the daemon would reject its size.
    """

    method: MethodDescriptor
    request: Message
    read: Callable[[Any], T]
    repeatable: bool = True
    seconds: float = LOOK_SECONDS

    def __post_init__(self) -> None:
        size = self.request.ByteSize()
        if size > MAX_REQUEST_BYTES:
            raise InvalidInputError(
                f"The request has {size} bytes, the daemon's limit is {MAX_REQUEST_BYTES}: put large"
                " data into a file of the workspace.",
                reason="REQUEST_TOO_LARGE",
            )


def grpc_arguments(method: MethodDescriptor) -> dict[str, Any]:
    """The arguments with which a channel of gRPC prepares calls of the method."""
    return {
        "method": f"/{method.containing_service.full_name}/{method.name}",
        "request_serializer": _class_of(method.input_type).SerializeToString,
        "response_deserializer": _class_of(method.output_type).FromString,
    }


def _class_of(message: Descriptor) -> type[Message]:
    # message_factory.GetMessageClass is missing from the protobuf 3.21 of Debian's packages.
    kind: type[Message] = message._concrete_class  # type: ignore[attr-defined]  # noqa: SLF001 - in every version of protobuf
    return kind


def methods_of(contract: FileDescriptor) -> Mapping[str, MethodDescriptor]:
    """The methods of the service of a contract, by name."""
    (service,) = contract.services_by_name.values()
    return service.methods_by_name


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list; `next_page_token` is "" on the last one."""

    items: tuple[T, ...]
    next_page_token: str


PageCall = Callable[[str, int], Call[Page[T]]]
"""Creates the call for the page of a token, with at most that many items."""


def pages(
    method: MethodDescriptor, request: Callable[..., Message], field: str, read: Callable[[Any], T]
) -> PageCall[T]:
    """The pages of a list: `request` takes size and token of a page, `field` of the reply has its items."""

    def read_page(reply: Any) -> Page[T]:
        return Page(tuple(map(read, getattr(reply, field))), reply.next_page_token)

    return lambda token, size: Call(method, request(page_size=size, page_token=token), read_page)


def nothing(_reply: Any) -> None:
    """The reader of an empty reply."""


def json_text(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"This value cannot be converted to JSON: {error}.", reason="INVALID_JSON"
        ) from error


def check_unicode(field: str, *texts: str) -> None:
    """InvalidInputError (reason NOT_UTF_8) if a text cannot be sent: a folder's name may contain any bytes,
    and JSON may contain lone surrogates.
    """
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInputError(
                f"{text[:60]!a} is not valid UTF-8 at character {error.start + 1}.",
                reason="NOT_UTF_8",
                field=field,
            ) from error
