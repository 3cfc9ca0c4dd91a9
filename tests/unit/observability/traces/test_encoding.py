"""The encoding of spans, compared with that of the library."""

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from aeond.observability.traces.encoding import MAX_CHARS, attribute, encoded_span, field, unique_attribute

TRACE = b"t" * 16
IDS = st.integers(0, 2**64 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=MAX_CHARS)


def bytes_of(number: int) -> bytes:
    return number.to_bytes(8, "little")


@given(IDS, st.none() | IDS, st.sampled_from([1, 2, 3]), IDS, IDS, TEXTS, st.sampled_from(["", "REASON"]))
def test_a_span_is_what_the_library_encodes(
    own: int,
    parent: int | None,
    kind: "Span.SpanKind.ValueType",
    start: int,
    end: int,
    name: str,
    error: str,
) -> None:
    """A span of any ids, times and name parses as the one with these values."""
    expected = Span(
        trace_id=TRACE,
        span_id=bytes_of(own),
        parent_span_id=b"" if parent is None else bytes_of(parent),
        kind=kind,
        start_time_unix_nano=start,
        end_time_unix_nano=end,
        name=name,
        attributes=[text_attribute("key", "value")],
    )
    if error:
        expected.attributes.append(text_attribute("error.type", error))
        expected.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=error))
    span = encoded_span(TRACE, own, parent, kind, start, end, name, attribute("key", "value"), error)
    assert list(ScopeSpans.FromString(span).spans) == [expected]


@given(st.text(max_size=3 * MAX_CHARS))
def test_an_attribute_that_is_unlikely_to_come_back_is_encoded_alike(text: str) -> None:
    """Both ways of encoding give the same attribute, bounded and without lone surrogates."""
    assert unique_attribute("key", text) == attribute("key", text)
    (found,) = Span.FromString(unique_attribute("key", text)).attributes
    assert found == text_attribute("key", text[:MAX_CHARS].encode(errors="replace").decode())


@given(st.binary(max_size=20_000))
def test_a_message_of_any_length_is_a_field(message: bytes) -> None:
    """A field of another message has the length that the library gives it."""
    assert field(1, message) == Span(trace_id=message).SerializeToString() or not message


def text_attribute(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))
