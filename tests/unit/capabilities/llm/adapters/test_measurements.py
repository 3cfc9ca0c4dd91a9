"""Answers added up, and how fast the last ones were."""

import pytest

from aeond.capabilities.llm.adapters.measurements import LATELY, Measurements
from aeond.domain.llm import Timing, TokenUsage
from tests.support.doubles import ManualClock


def answered(
    measurements: Measurements, clock: ManualClock, first: float, rest: float, tokens: int
) -> Timing:
    """One request from its beginning to its end."""
    answering = measurements.begin()
    clock.advance(first)
    answering.text_came()
    clock.advance(rest)
    answering.text_came()
    timing = answering.answered(TokenUsage(100, tokens, 80))
    answering.end()
    return timing


def test_an_answer_is_timed_from_its_request() -> None:
    """The first text counts, not the later ones, and the end is when the answer is complete, by the wall clock too."""
    clock = ManualClock()
    assert answered(Measurements(clock), clock, 0.5, 1.5, 10) == Timing(0.5, 2.0, clock.time())


def test_idleness_does_not_slow_an_engine_down() -> None:
    """Tokens per second are counted over the time in which something was asked."""
    clock = ManualClock()
    measurements = Measurements(clock)
    for _ in range(3):
        answered(measurements, clock, 1, 1, 10)
        clock.advance(1_000)
    metrics = measurements.metrics()
    assert metrics.tokens_per_second == pytest.approx(5)
    assert (metrics.prompt_tokens, metrics.cached_tokens, metrics.completion_tokens) == (300, 240, 30)


def test_requests_at_the_same_time_share_their_time() -> None:
    """Two requests together write twice as fast as one."""
    clock = ManualClock()
    measurements = Measurements(clock)
    both = [measurements.begin(), measurements.begin()]
    assert measurements.metrics().running_requests == 2
    clock.advance(2)
    for answering in both:
        answering.answered(TokenUsage(1, 10, 0))
        answering.end()
    assert measurements.metrics().tokens_per_second == pytest.approx(10)
    assert measurements.metrics().running_requests == 0


def test_a_request_that_failed_is_over() -> None:
    """A request that ended without an answer no longer counts as running, and counts no tokens."""
    measurements = Measurements(ManualClock())
    measurements.begin().end()
    assert measurements.metrics().running_requests == measurements.metrics().prompt_tokens == 0


def test_only_what_was_lately_counts() -> None:
    """An engine that was slow long ago is not slow for ever."""
    clock = ManualClock()
    measurements = Measurements(clock)
    answered(measurements, clock, 100, 100, 1)
    for _ in range(LATELY):
        answered(measurements, clock, 1, 1, 10)
    metrics = measurements.metrics()
    assert metrics.first_token_seconds == 1
    assert metrics.tokens_per_second == pytest.approx(5)
