"""W3C trace context."""

import pytest

from aeond.trace_context import TraceParent

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(("flags", "sampled"), [("00", False), ("01", True), ("ff", True), ("02", False)])
def test_a_valid_header_has_ids_and_the_decision_to_record(flags: str, sampled: bool) -> None:
    """The ids are 16 and 8 bytes, and the lowest flag says whether the caller records the trace."""
    parsed = TraceParent.parse(f"00-{TRACE}-{SPAN}-{flags}")
    assert parsed == TraceParent(bytes.fromhex(TRACE), bytes.fromhex(SPAN), sampled)


def test_a_later_version_may_have_more_fields() -> None:
    """Version 00 ends with the flags; a later one may go on."""
    assert TraceParent.parse(f"01-{TRACE}-{SPAN}-01-more") is not None
    assert TraceParent.parse(f"00-{TRACE}-{SPAN}-01-more") is None


@pytest.mark.parametrize(
    "header",
    [
        "",
        "garbage",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
    ],
)
def test_an_invalid_header_is_ignored(header: str) -> None:
    """A header that W3C does not allow gives no context."""
    assert TraceParent.parse(header) is None
