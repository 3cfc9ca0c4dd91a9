"""The restart policy, by a clock that the test turns."""

import pytest

from aeond.capabilities.llm.engine.restart_policy import RestartPolicy
from aeond.capabilities.llm.engine.supervision_rules import Supervision
from aeond.errors import LLMError, LLMGoneError
from tests.support.doubles import ManualClock

RULES = Supervision(
    max_deaths=4, death_window_seconds=100.0, first_backoff_seconds=1.0, longest_backoff_seconds=3.0
)
DEATH = LLMGoneError("It died.")


def test_each_backoff_is_longer_up_to_a_bound() -> None:
    """The pause doubles with each death and never exceeds the longest."""
    clock = ManualClock()
    policy = RestartPolicy(clock, RULES)
    assert [policy.next_start(DEATH) - clock.monotonic() for _ in range(3)] == [1.0, 2.0, 3.0]


def test_too_many_deaths_in_a_short_time_are_the_end() -> None:
    """The death that is one too many raises an error with the last cause."""
    policy = RestartPolicy(ManualClock(), RULES)
    for _ in range(3):
        policy.next_start(DEATH)
    with pytest.raises(LLMError, match=r"died 4 times in a row.*It died") as given_up:
        policy.next_start(DEATH)
    assert given_up.value.reason == "ENGINE_DEAD"


def test_deaths_long_ago_do_not_count() -> None:
    """An engine that dies now and then is started again with the shortest pause."""
    clock = ManualClock()
    policy = RestartPolicy(clock, RULES)
    for _ in range(10):
        clock.advance(101.0)
        assert policy.next_start(DEATH) - clock.monotonic() == 1.0


def test_a_new_beginning_forgets() -> None:
    """After an explicit reset the backoff starts over at its first delay."""
    clock = ManualClock()
    policy = RestartPolicy(clock, RULES)
    for _ in range(3):
        policy.next_start(DEATH)
    policy.forget()
    assert policy.next_start(DEATH) - clock.monotonic() == 1.0
