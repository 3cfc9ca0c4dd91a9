"""Restart policy: backoff between restarts and the point at which to stop restarting."""

from collections import deque

from aeond.capabilities.llm.engine.supervision_rules import Supervision
from aeond.errors import LLMError, LLMGoneError
from aeond.ports import Clock


class RestartPolicy:
    """Remembers the deaths of one engine; each backoff is twice the last one."""

    def __init__(self, clock: Clock, rules: Supervision) -> None:
        self._clock = clock
        self._rules = rules
        self._deaths: deque[float] = deque()

    def forget(self) -> None:
        """Clears the record of deaths, so that a model loaded on request gets all its restarts."""
        self._deaths.clear()

    def next_start(self, death: LLMGoneError) -> float:
        """When the next life may begin, by the clock's monotonic time. Raises LLMError (reason ENGINE_DEAD) when
        there were too many deaths lately."""
        now = self._clock.monotonic()
        self._deaths.append(now)
        while self._deaths[0] < now - self._rules.death_window_seconds:
            self._deaths.popleft()
        count = len(self._deaths)
        if count >= self._rules.max_deaths:
            raise LLMError(
                f"The engine died {count} times in a row and stays down; the last time: {death.message} "
                "Look at the memory it needs and at its log, then load the model again.",
                reason="ENGINE_DEAD",
            )
        backoff: float = self._rules.first_backoff_seconds * 2 ** (count - 1)
        return now + min(backoff, self._rules.longest_backoff_seconds)
