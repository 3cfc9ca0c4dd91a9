from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.evaluations import Evaluation
from aeond.domain.profiles import DEFAULT_PROFILE, Route
from aeond.domain.runs import RunSnapshot
from aeond.orchestration.expiry import expiry_of
from tests.support.judging import after_pass, ran
from tests.support.strategy import calls

LOOK = calls("s1", "look", path="garden")
PASS = after_pass(1, ran(LOOK))
DRAFT = replace(PASS, pass_index=0, steps={})
NOTHING = replace(DRAFT, plan=None, logic_version=2)


@pytest.mark.parametrize(
    ("run", "where"),
    [
        (NOTHING, "A, at its boundary"),
        (replace(NOTHING, exhausted="wall_seconds"), "A, in the midst of it"),
        (replace(NOTHING, profile=DEFAULT_PROFILE), "B, at its boundary"),
        (replace(NOTHING, logic_version=1), "B, at its boundary"),
        (replace(DRAFT, exhausted="wall_seconds"), "B, in the midst of it"),
        (replace(DRAFT, evaluation=Evaluation(0, True)), "C, at its boundary"),
        (replace(DRAFT, route=Route.DIRECT), "C, at its boundary"),
        (replace(PASS, pass_open=True), "C, in the midst of it"),
        (replace(PASS, exhausted="wall_seconds"), "C, in the midst of it"),
        (replace(PASS, evaluation=Evaluation(1, False)), "D, at its boundary"),
    ],
)
def test_an_expired_run_says_where(run: RunSnapshot, where: str) -> None:
    """Which phase it was in when the budget ran out, and whether before it or in its midst."""
    expiry = expiry_of(replace(run, exhausted=run.exhausted or "ttl"))
    assert expiry is not None
    assert f"in phase {where}," in str(expiry)


def test_an_expired_run_says_what_it_has() -> None:
    """What ran out, the passes that it made and how many steps gave a result."""
    steps: Any = [ran(LOOK), ran(calls("s2", "look", path="shed"), error="no shed")]
    expiry = expiry_of(replace(after_pass(2, *steps), exhausted="llm_calls", evaluation=Evaluation(2, False)))
    assert str(expiry) == (
        "the run's budget of llm calls ran out in phase D, at its boundary, after 2 passes: "
        "1 of 2 steps gave a result"
    )


def test_a_run_that_did_not_expire_says_nothing() -> None:
    """Without an exhausted budget there is no expiry to tell of."""
    assert expiry_of(PASS) is None


def test_an_expired_run_of_which_nothing_is_known_is_told_of() -> None:
    """A snapshot with nothing in it but what ran out is enough."""
    expiry = expiry_of(RunSnapshot("run", exhausted="tokens"))
    assert expiry is not None
    assert (expiry.passes, expiry.total) == (0, 0)
