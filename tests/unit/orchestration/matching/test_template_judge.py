"""The questions about a request for a subtask, and the probability of their replies."""

import math

import pytest

from aeond.domain.plans.subtasks import Template
from aeond.orchestration.matching.template_judge import CERTAIN, TemplateJudge
from tests.support.strategy import grant, says

SING = Template("sing", "Sings a song.")


@pytest.mark.parametrize(
    ("likely", "odds"),
    [
        ({"yes": -0.5, "no": -1.5}, 1.0),
        ({"no": -0.5, "yes": -1.5, "maybe": -3.0}, -1.0),
        ({"yes": -0.5, "maybe": -1.0}, CERTAIN),
        ({"no": -0.5, "maybe": -1.0}, -CERTAIN),
        ({"maybe": -0.1}, None),
        ({}, None),
        ({"yes": math.log(0.2), " Yes": math.log(0.4), "no": math.log(0.2)}, math.log(3)),
    ],
)
async def test_odds_are_those_of_yes_against_no(likely: dict[str, float], odds: float | None) -> None:
    """Other words do not count; spellings of a word add up; a word that is not among the likely ones has no chance."""
    judge = TemplateJudge(says({"text": "?", "likely": likely}))
    found = await judge.fits("a song", SING, grant(1))
    assert found == (odds if odds is None else pytest.approx(odds))


async def test_each_question_is_one_call_of_the_grant() -> None:
    """The restatement is one line; a grant without a call left gives neither."""
    judge, purse = TemplateJudge(says("Sings songs.\nAnd more", "no")), grant(2)
    assert await judge.restated("a song", purse) == "Sings songs."
    assert await judge.fits("a song", SING, purse) == -CERTAIN
    assert purse.used.llm_calls == 2
    assert await judge.restated("a song", purse) is None
    assert await judge.fits("a song", SING, purse) is None
