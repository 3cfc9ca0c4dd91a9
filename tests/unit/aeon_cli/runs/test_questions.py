"""How questions look, and what an answer that was typed means."""

from typing import Any

import pytest

from aeon_cli.runs.questions import how_to_answer, lines_of, lines_to_answer, value_of
from aeond_client.records.judgements import Question

TEXT = Question("s1.1", "s1", "Which colour?", {"type": "string"})
CHOICE = Question("s1.1", "s1", "Which?", {"type": "string"}, options=("red", "blue", "2"))
NUMBER = Question("s1.1", "s1", "How many?", {"type": "integer"})
USUAL = Question("s1.1", "s1", "Which?", {"type": "string"}, default="red", has_default=True)


@pytest.mark.parametrize(
    ("question", "typed", "value"),
    [
        (TEXT, "12", "12"),
        (TEXT, "the blue one", "the blue one"),
        (CHOICE, "red", "red"),
        (CHOICE, "1", "red"),
        (CHOICE, "2", "2"),
        (CHOICE, "9", "9"),
        (NUMBER, "12", 12),
        (NUMBER, "many", "many"),
        (NUMBER, '{"a": 1}', {"a": 1}),
        (USUAL, "", "red"),
        (USUAL, "blue", "blue"),
        (TEXT, "", ""),
    ],
)
def test_a_typed_answer_becomes_a_value(question: Question, typed: str, value: Any) -> None:
    """Text stays text where text is wanted, a number chooses an option unless it is one, else it is JSON; nothing
    is the default."""
    assert value_of(question, typed) == value


def test_a_question_is_shown_with_all_that_matters() -> None:
    """Options with their numbers, the form that is wanted, and what the deadline does."""
    assert lines_of(CHOICE, 0.0) == ["? Which?", "  1) red", "  2) blue", "  3) 2"]
    assert lines_of(NUMBER, 0.0) == ["? How many?", '  (JSON: {"type": "integer"})']
    timed = Question("s1.1", "s1", "Which?", {}, default="red", has_default=True, deadline_time=160.0)
    assert lines_of(timed, 100.0)[-1] == "  (within 1m00s, else: red)"
    assert lines_of(USUAL, 0.0) == ["? Which?", "  (default: red)"]
    lapsing = Question("s1.1", "s1", "Which?", {}, deadline_time=100.0)
    assert lines_of(lapsing, 160.0)[-1] == "  (within 0.0s, else: the step fails)"


def test_control_characters_of_a_model_are_shown() -> None:
    """Control characters of a prompt or an option are shown, not obeyed."""
    question = Question("s1.1", "s1", "Which\x1b[2J?", {}, options=("\x1b]0;owned\x07",))
    assert "\x1b" not in "".join(lines_of(question, 0.0))


def test_the_command_that_answers_names_run_and_question() -> None:
    """It can be copied to another terminal."""
    assert how_to_answer("run1", CHOICE) == "aeonctl answer run1 s1.1 CHOICE"
    assert how_to_answer("run1", TEXT) == "aeonctl answer run1 s1.1 ANSWER"
    assert lines_to_answer("run1", TEXT) == ["? Which colour?", "  aeonctl answer run1 s1.1 ANSWER"]
