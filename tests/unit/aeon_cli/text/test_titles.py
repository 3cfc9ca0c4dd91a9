"""Steps, times and sizes in few words."""

import pytest

from aeon_cli.text.titles import counted, duration_in_words, effect_in_words, size_in_words, title_of
from aeond_client.records.runs import PlanStep
from aeond_client.records.tools import RecordedEffect


@pytest.mark.parametrize(
    ("step", "title"),
    [
        (PlanStep("s", tool="calculator", arguments={"expression": "1 + 1"}), "calculator 1 + 1"),
        (
            PlanStep("s", tool="remember", arguments={"key": "a", "value": 1}),
            "remember key=a value=1",
        ),
        (PlanStep("s", tool="now"), "now"),
        (PlanStep("s", "Think about\nit", agent="llm"), "Think about it"),
        (PlanStep("s", agent="llm"), "llm"),
        (PlanStep("s"), "s"),
        (PlanStep("s", tool="echo", arguments={"text": "\x1b[2J"}), "echo \\x1b[2J"),
    ],
)
def test_a_step_is_reported_on_one_line(step: PlanStep, title: str) -> None:
    """The tool with its arguments, or what the agent is to do, or at least its name."""
    assert title_of(step) == title


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (RecordedEffect("file.created", "notes.txt", "120 bytes"), "created: notes.txt (120 bytes)"),
        (RecordedEffect("fact.remembered", "birthday"), "remembered: birthday"),
        (RecordedEffect("light.switched_on", "kit\nchen"), "switched on: kit chen"),
        (RecordedEffect("effects.omitted", "12"), "and 12 more"),
    ],
)
def test_an_effect_is_reported_on_one_line(effect: RecordedEffect, words: str) -> None:
    """The last word of the kind, the target and the detail, whatever the kind is."""
    assert effect_in_words(effect) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0.0s"),
        (0.04, "0.0s"),
        (9.94, "9.9s"),
        (42.9, "42s"),
        (187, "3m07s"),
        (7_500, "2h05m"),
        (359_999, "99h59m"),
        (4_000_000, "46d"),
    ],
)
def test_durations_fit_their_column(seconds: float, words: str) -> None:
    """Any duration is shown in at most six characters."""
    assert duration_in_words(seconds) == words
    assert len(words) <= 6


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (812, "812 B"),
        (98_400_000, "98.4 MB"),
        (1_117_320_768, "1.1 GB"),
        (5 * 10**13, "50000.0 GB"),
    ],
)
def test_sizes_are_rounded(size: int, words: str) -> None:
    """Sizes are shown in the largest unit that leaves a number above one."""
    assert size_in_words(size) == words


def test_nouns_follow_their_number() -> None:
    """One step, two steps, and words that are not regular."""
    assert [counted(1, "step"), counted(2, "step"), counted(2, "reply", "replies")] == [
        "1 step",
        "2 steps",
        "2 replies",
    ]
