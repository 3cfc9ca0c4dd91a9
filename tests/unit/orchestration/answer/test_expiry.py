from dataclasses import replace
from typing import Any

import pytest

from aeond.domain.outcome import Problem
from aeond.domain.plans.evaluations import Evaluation
from aeond.domain.plans.profiles import DEFAULT_PROFILE, Route
from aeond.domain.runs import events as e
from aeond.domain.runs.budgets import Amounts, Budget
from aeond.domain.runs.run import Operation, Phase, RunRequest, RunSnapshot
from aeond.orchestration.answer.expiry import expiry_note
from tests.support.folding import fold_all
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
        (replace(NOTHING, exhausted="wall_seconds"), "A, before it ended"),
        (replace(NOTHING, profile=DEFAULT_PROFILE), "B, at its boundary"),
        (replace(NOTHING, logic_version=1), "B, at its boundary"),
        (replace(DRAFT, exhausted="wall_seconds"), "B, before it ended"),
        (replace(DRAFT, evaluation=Evaluation(0, True)), "C, at its boundary"),
        (replace(DRAFT, route=Route.DIRECT), "C, at its boundary"),
        (replace(PASS, pass_open=True), "C, before it ended"),
        (replace(PASS, exhausted="wall_seconds"), "C, before it ended"),
        (replace(PASS, evaluation=Evaluation(1, False)), "D, at its boundary"),
    ],
)
def test_an_expired_run_says_where(run: RunSnapshot, where: str) -> None:
    """The note names the phase in which the budget ran out, and whether that was during the phase or at its end."""
    expiry = expiry_note(replace(run, exhausted=run.exhausted or "ttl"))
    assert f"in phase {where}," in expiry


def lived(*kinds: e.EventKind) -> RunSnapshot:
    """A run to which these things happened, one after the other."""
    created = e.RunCreated(RunRequest("What is a herb?"), Budget(), logic_version=2)
    events = [
        e.Event("run", seq, 0.0, 0.0, kind)
        for seq, kind in enumerate((created, e.RunStarted(), *kinds), start=1)
    ]
    return fold_all(RunSnapshot("run"), events)


WRITING = e.AnswerStarted(Amounts(llm_calls=2, tokens=500))
OUT_OF_TIME = e.BudgetExhausted("wall_seconds")


def test_time_that_is_over_while_a_reply_is_written_is_reported() -> None:
    """The expiry of a reply reports neither passes nor steps: it says that the reply was being written."""
    reply = lived(
        e.OperationStarted(Operation.ROUTE, Amounts()), e.RouteChosen(Route.REPLY), WRITING, OUT_OF_TIME
    )
    assert expiry_note(reply) == "the run's budget of wall seconds ran out in phase E, before it ended"


def test_time_that_is_over_while_an_answer_is_written_is_reported() -> None:
    """Whether the last pass converged or not, the expiry names the answer as cut short and counts the steps."""
    for converged in (True, False):
        judged = replace(
            PASS, evaluation=Evaluation(1, converged), phase=Phase.ANSWER, exhausted="wall_seconds"
        )
        note = expiry_note(replace(judged, operation=WRITING.reservation))
        assert note.endswith("in phase E, before it ended, after 1 pass: 1 of 1 steps gave a result")


def test_the_answer_of_an_expired_run_is_not_where_it_expired() -> None:
    """The answer that is made without a model, since the budget ran out, leaves the place of that as it was."""
    started = e.PlanningStarted(Amounts(llm_calls=1, tokens=9))
    routed = (e.OperationStarted(Operation.ROUTE, Amounts()), e.RouteChosen(Route.PLAN))
    profiled = (e.OperationStarted(Operation.PROFILE, Amounts()), e.ProfileInferred(DEFAULT_PROFILE, False))
    failed = e.PlanningFailed(Problem("INTERRUPTED", "cut"))
    run = lived(*routed, *profiled, started, OUT_OF_TIME, failed, e.AnswerStarted(Amounts()))
    assert "in phase B, before it ended" in expiry_note(run)


def test_an_expired_run_says_what_it_has() -> None:
    """The text names the exhausted limit, the passes and the number of steps with a result."""
    steps: Any = [ran(LOOK), ran(calls("s2", "look", path="shed"), error="no shed")]
    expiry = expiry_note(
        replace(after_pass(2, *steps), exhausted="llm_calls", evaluation=Evaluation(2, False))
    )
    assert expiry == (
        "the run's budget of llm calls ran out in phase D, at its boundary, after 2 passes: "
        "1 of 2 steps gave a result"
    )


def test_a_run_that_did_not_expire_says_nothing() -> None:
    """Without an exhausted budget there is no expiry to report."""
    assert expiry_note(PASS) == ""


def test_an_expired_run_of_which_nothing_is_known_has_a_note() -> None:
    """A snapshot with nothing in it but what ran out is enough."""
    expiry = expiry_note(RunSnapshot("run", exhausted="tokens"))
    assert expiry.endswith("at its boundary, after 0 passes: 0 of 0 steps gave a result")
