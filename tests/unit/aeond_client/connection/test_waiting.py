"""Waiting for an answer."""

from dataclasses import replace

import pytest

from aeond_client.connection.waiting import answer_of, waits
from aeond_client.errors import NoAnswerError
from aeond_client.records.judgements import Question
from aeond_client.records.runs import Answer, Problem, Run, RunState


def test_an_answer_is_an_answer_whatever_the_state() -> None:
    """A run that failed or ran out of budget still gives the answer that it has."""
    for state in (RunState.SUCCEEDED, RunState.FAILED, RunState.EXPIRED):
        assert answer_of(Run("run", state, "text", answer=Answer("half"))).text == "half"


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (Run("run", RunState.CANCELLED, "text"), "Run run was cancelled."),
        (
            Run("run", RunState.SUSPENDED, "text", suspend_reason="unknown_step"),
            "waits for a person: unknown step",
        ),
        (
            Run("run", RunState.FAILED, "text", problem=Problem("R", "It broke.")),
            "is failed and has no answer: It broke.",
        ),
        (Run("run", RunState.AWAITING_INPUT, "text"), "waits for your answer."),
    ],
)
def test_no_answer_says_why(run: Run, words: str) -> None:
    """The error of a run without an answer tells its state and its reason in plain words."""
    with pytest.raises(NoAnswerError) as caught:
        answer_of(run)
    assert words in caught.value.message
    assert caught.value.run is run


def test_only_two_states_wait_for_a_person() -> None:
    """A run waits when it is suspended or awaits input, and in no other state."""
    waiting = {state for state in RunState if waits(Run("run", state, "text"))}
    assert waiting == {RunState.SUSPENDED, RunState.AWAITING_INPUT}


def test_a_run_without_disk_space_does_not_wait_for_a_person() -> None:
    """A run that a full disk suspended continues by itself, unless one of its questions is open."""
    run = Run("run", RunState.SUSPENDED, "text", suspend_reason="disk_full")
    assert not waits(run)
    assert waits(replace(run, questions=(Question("s1.1", "s1", "Which?"),)))
