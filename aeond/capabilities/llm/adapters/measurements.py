"""What an adapter measures of the answers it gets, for all kinds of engines alike."""

from collections import deque
from statistics import median
from typing import Final

from aeond.domain.llm import EngineMetrics, Timing, TokenUsage
from aeond.ports import Clock

LATELY: Final = 32  # answers


class Measurements:
    """Adds up answers, and remembers how fast the last ones were.

    Tokens per second are those of all requests together, over the time in which at least one was under way.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._under_way = 0
        self._busy_since = 0.0
        self._busy_seconds = 0.0
        self._usage = TokenUsage()
        self._first_tokens: deque[float] = deque(maxlen=LATELY)
        self._written: deque[tuple[float, int]] = deque([(0.0, 0)], maxlen=LATELY + 1)

    def begin(self) -> "Answering":
        """A request is made; `end` is to be called whatever becomes of it."""
        if self._under_way == 0:
            self._busy_since = self._clock.monotonic()
        self._under_way += 1
        return Answering(self, self._clock)

    def metrics(self) -> EngineMetrics:
        """Metrics of the engine as its client measures them; running requests are those sent and not yet ended."""
        (busy_before, tokens_before), (busy, tokens) = self._written[0], self._written[-1]
        return EngineMetrics(
            running_requests=self._under_way,
            prompt_tokens=self._usage.prompt_tokens,
            cached_tokens=self._usage.cached_tokens,
            completion_tokens=self._usage.completion_tokens,
            tokens_per_second=(tokens - tokens_before) / (busy - busy_before) if busy > busy_before else 0.0,
            first_token_seconds=median(self._first_tokens) if self._first_tokens else 0.0,
        )

    def answered(self, usage: TokenUsage, timing: Timing) -> None:
        known = self._usage
        self._usage = TokenUsage(
            known.prompt_tokens + usage.prompt_tokens,
            known.completion_tokens + usage.completion_tokens,
            known.cached_tokens + usage.cached_tokens,
        )
        self._first_tokens.append(timing.first_token_seconds)
        busy = self._busy_seconds + self._clock.monotonic() - self._busy_since
        self._written.append((busy, self._usage.completion_tokens))

    def ended(self) -> None:
        self._under_way -= 1
        if self._under_way == 0:
            self._busy_seconds += self._clock.monotonic() - self._busy_since


class Answering:
    """One request under way."""

    def __init__(self, measurements: Measurements, clock: Clock) -> None:
        self._measurements = measurements
        self._clock = clock
        self._began = clock.monotonic()
        self._first_token_seconds = 0.0
        self._has_begun = False

    def text_came(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._first_token_seconds = self._clock.monotonic() - self._began

    def answered(self, usage: TokenUsage) -> Timing:
        """The answer is complete: how long it took."""
        seconds = self._clock.monotonic() - self._began
        timing = Timing(self._first_token_seconds, seconds, self._clock.time())
        self._measurements.answered(usage, timing)
        return timing

    def end(self) -> None:
        self._measurements.ended()
