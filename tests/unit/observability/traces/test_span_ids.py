"""Ids of spans and traces."""

from aeond.domain.runs.budgets import MAX_MODEL_CALLS
from aeond.observability.traces.span_ids import RUN, SpanIds, id_number, span_id, trace_id


def test_ids_follow_from_the_run() -> None:
    """Two programs that make the trace of a run give its spans the same ids, and another run has others."""
    assert SpanIds("a").run == SpanIds("a").run == id_number(span_id("a", RUN))
    assert SpanIds("a").of_event(7) == SpanIds("a").of_event(7) != SpanIds("b").of_event(7)
    assert (len(trace_id("a")), len(span_id("a", RUN))) == (16, 8)
    assert trace_id("a") != trace_id("b")


def test_no_two_spans_of_a_run_have_one_id() -> None:
    """Each event has ids for all spans that it begins or ends, and they fit into 64 bits."""
    ids = SpanIds("a")
    found = [ids.of_event(seq, which) for seq in range(1, 1_000) for which in range(MAX_MODEL_CALLS + 3)]
    assert len({*found, ids.run}) == len(found) + 1
    assert max(found) < 1 << 64


def test_the_ids_of_a_step_and_its_call_are_those_of_their_events() -> None:
    """The short way for a step and its call gives the same ids as the events one by one."""
    ids = SpanIds("a")
    for seq in (1, 7, 5_000):
        assert ids.of_step(seq) == (ids.of_event(seq), ids.of_event(seq + 1, 1))
