"""Encodes spans as protobuf messages.

Encoded messages of one type are joined by appending them. To append what was encoded before takes a fraction of the time
that the library needs to copy values, and the parts of a span whose lengths are known need no library.
"""

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

MAX_CHARS: Final = 256  # of a name or a value
_ONE_BYTE: Final = 127  # the largest length that takes one byte
_BYTES: Final = 2  # the wire type of texts and messages

# Trace, id, parent, kind, start and end of a span, each after its tag and, of an id, its length.
_FRAME: Final = Struct("<2s16s2sQ2sQBBBQBQ")
_FRAME_OF_TOP: Final = Struct("<2s16s2sQBBBQBQ")
TRACE, ID, PARENT, KIND, START, END = b"\x0a\x10", b"\x12\x08", b"\x22\x08", 0x30, 0x39, 0x41
_ATTRIBUTE, _KEY, _VALUE, _TEXT = 0x4A, 0x0A, 0x12, 0x0A

Scalar = str | int | float


def encoded_span(
    trace: bytes,
    own: int,
    parent: int | None,
    kind: "Span.SpanKind.ValueType",
    start: int,
    end: int,
    name: str,
    attributes: bytes,
    error: str,
) -> bytes:
    """A span as a field of ScopeSpans. The id of the trace has 16 bytes, those of spans are numbers of 64 bits; times are in
    nanoseconds."""
    if error:
        attributes += attribute("error.type", error) + _failed(error)
    if parent is None:
        ids = _FRAME_OF_TOP.pack(TRACE, trace, ID, own, KIND, kind, START, start, END, end)
    else:
        ids = _FRAME.pack(TRACE, trace, ID, own, PARENT, parent, KIND, kind, START, start, END, end)
    return field(ScopeSpans.SPANS_FIELD_NUMBER, ids + encoded_name(name) + attributes)


def attributes_of(values: Mapping[str, Scalar]) -> bytes:
    """Encoded attributes of a span."""
    return b"".join([attribute(key, value) for key, value in values.items()])


# Most values come back. The type is part of the key, because 1 and 1.0 are equal.
@lru_cache(maxsize=4_096, typed=True)
def attribute(key: str, value: Scalar) -> bytes:
    """An encoded attribute of a span."""
    match value:
        case str():
            of_value = AnyValue(string_value=_plain(value))
        case int():
            of_value = AnyValue(int_value=value)
        case float():
            of_value = AnyValue(double_value=value)
    return Span(attributes=[KeyValue(key=key, value=of_value)]).SerializeToString()


def unique_attribute(key: str, value: str) -> bytes:
    """An encoded attribute whose value is unlikely to come back, such as an id."""
    text = value.encode(errors="replace")
    head = _head_of_attribute(key, len(text))
    return head + text if head else attribute(key, value)


@lru_cache(maxsize=256)
def _head_of_attribute(key: str, size: int) -> bytes:
    """What comes before a text of this size in bytes; empty if a length takes more than one byte."""
    name = key.encode()
    whole = len(name) + size + 6
    if whole > _ONE_BYTE:
        return b""
    return bytes((_ATTRIBUTE, whole, _KEY, len(name))) + name + bytes((_VALUE, size + 2, _TEXT, size))


def field(number: int, message: bytes) -> bytes:
    """An encoded message as a field of another one."""
    return field_head(number, len(message)) + message


@lru_cache(maxsize=1_024)
def field_head(number: int, size: int) -> bytes:
    """The tag of a field, and its length in groups of seven bits."""
    length = bytearray()
    while size > _ONE_BYTE:
        length.append(size & _ONE_BYTE | 0x80)
        size >>= 7
    length.append(size)
    return bytes((number << 3 | _BYTES,)) + length


@lru_cache(maxsize=1_024)
def encoded_name(name: str) -> bytes:
    return Span(name=_plain(name)).SerializeToString()


@lru_cache(maxsize=256)
def _failed(error: str) -> bytes:
    return Span(status=Status(code=Status.STATUS_CODE_ERROR, message=_plain(error))).SerializeToString()


def _plain(text: str) -> str:
    """A text as protobuf accepts it: bounded, and without the lone surrogates that Python allows."""
    return text[:MAX_CHARS].encode(errors="replace").decode()
