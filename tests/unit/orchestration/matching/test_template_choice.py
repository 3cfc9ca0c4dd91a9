"""Choosing the template for a subtask: by name, by nearness and the model's judgement, and by nearness alone."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Grant
from aeond.domain.values import compact_json
from aeond.orchestration.matching.template_choice import (
    CERTAIN,
    LEAST_BY_MEANING,
    MAX_LISTED,
    TemplateChooser,
    TemplateJudge,
    TemplateLibrary,
    wording_of,
)
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.ports.embedding import Embedder, Vector
from aeond.schemas.parts import as_object
from tests.support.embedders import WordEmbedder
from tests.support.judging import model_of
from tests.support.strategy import grant, says

FITS, FAR = LEAST_BY_MEANING + 0.1, LEAST_BY_MEANING - 0.05


class ScoreEmbedder:
    """Gives texts vectors whose cosine with any query is what the test says."""

    name = "scores"
    available = True

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        scores = [self._scores.get(text, 1.0) for text in texts]
        return tuple((score, math.sqrt(1.0 - score * score)) for score in scores)


def templates(**scores: float) -> tuple[TemplateLibrary, Embedder]:
    """Templates that are so near to any request."""
    library = TemplateLibrary([Template(name, f"about {name}", inputs=("text",)) for name in scores])
    return library, ScoreEmbedder({f"about {name}": score for name, score in scores.items()})


class Bench:
    """A chooser over templates with these scores and a model that says these answers."""

    def __init__(self, *answers: str | dict[str, object], **scores: float) -> None:
        library, embedder = templates(**scores)
        self.llm = says(*answers)
        self.grant = grant()
        self._chooser = TemplateChooser(library, TextRanking(embedder), model_of(self.llm))

    async def choose(self, request: SubtaskRequest | None = None, purse: Grant | None = None) -> str:
        """The chosen template's name, or the reason why there is none."""
        outcome = await self._chooser.choose(request or SubtaskRequest("do it"), purse or self.grant)
        if outcome.ok:
            return outcome.value.hints[0]
        assert outcome.problem is not None
        return outcome.problem.reason


async def test_a_named_template_is_taken_without_a_look() -> None:
    """A hint that is a template's name settles the choice, whatever is nearer."""
    bench = Bench(sing=FAR, dance=FITS)
    assert await bench.choose(SubtaskRequest("dance", hints=("sing", "quickly"))) == "sing"
    assert not bench.llm.requests


YES: dict[str, object] = {"text": "yes", "likely": {"yes": -0.1, "no": -2.4}}
UNSURE: dict[str, object] = {"text": "yes", "likely": {"yes": -0.3, "no": -1.4}}
NO: dict[str, object] = {"text": "no", "likely": {"no": -0.1, "yes": -2.4}}


@pytest.mark.parametrize(
    ("reply", "chosen"), [(YES, "sing"), (UNSURE, "TEMPLATE_NOT_FOUND"), (NO, "TEMPLATE_NOT_FOUND")]
)
async def test_the_nearest_is_taken_if_the_model_says_that_it_fits(
    reply: dict[str, object], chosen: str
) -> None:
    """The model restates the request and judges the nearest template: two calls of the grant."""
    bench = Bench("Sings.", reply, sing=FITS)
    assert await bench.choose() == chosen
    assert bench.grant.used.llm_calls == 2
    judged = bench.llm.requests[1]
    assert judged.messages[-1].content == "Request: do it\nHelper: about sing"


async def test_the_surest_of_the_nearest_is_taken() -> None:
    """Of the three nearest templates the one with the most probable yes is taken; no other one is judged."""
    surer: dict[str, object] = {"text": "yes", "likely": {"yes": -0.01, "no": -4.6}}
    bench = Bench(
        "Sings.",
        {**YES, "times": 1},
        {**surer, "times": 1},
        NO,
        a=FITS,
        b=FITS - 0.01,
        c=FITS - 0.02,
        d=FITS - 0.03,
    )
    assert await bench.choose() == "b"
    assert bench.grant.used.llm_calls == 4


async def test_fewer_are_judged_if_the_grant_has_fewer_calls() -> None:
    """With two calls the nearest template alone is judged."""
    purse = grant(2)
    assert await Bench("Sings.", YES, sing=FITS, dance=FITS - 0.01).choose(purse=purse) == "sing"
    assert purse.used.llm_calls == 2


async def test_the_restated_request_counts_as_much_as_its_words() -> None:
    """A template that is near to the restatement is found for a request whose own words are near to another one."""
    library = TemplateLibrary([Template("sing", "sings a song"), Template("dance", "dances a waltz")])
    llm = says("dances a waltz", {**YES, "times": 1}, NO)
    chooser = TemplateChooser(library, TextRanking(WordEmbedder()), model_of(llm))
    chosen = await chooser.choose(SubtaskRequest("not a song but something in three-four time"), grant())
    assert chosen.value.hints == ("dance",)


async def test_probability_decides_rather_than_the_reply() -> None:
    """A reply in other letters, or one that the server gives without probabilities, is understood."""
    upper: dict[str, object] = {"text": "Yes", "likely": {"Yes": -0.1, " no": -2.4}}
    assert await Bench("Sings.", upper, sing=FITS).choose() == "sing"
    assert await Bench("Sings.", "yes", sing=FITS).choose() == "sing"
    assert await Bench("Sings.", "No", sing=FITS).choose() == "TEMPLATE_NOT_FOUND"


async def test_a_reply_that_is_neither_leaves_it_to_nearness() -> None:
    """If the model says neither yes nor no, the nearest template is taken if it is near."""
    assert await Bench("Sings.", "perhaps", sing=FITS).choose() == "sing"
    assert await Bench("Sings.", "perhaps", sing=FAR).choose() == "TEMPLATE_NOT_FOUND"


@pytest.mark.parametrize(
    ("answer", "reply", "chosen"),
    [
        ("dance", YES, "dance"),
        ("dance", NO, "TEMPLATE_NOT_FOUND"),
        ("none", YES, "TEMPLATE_NOT_FOUND"),
    ],
)
async def test_without_vectors_the_model_picks(answer: str, reply: dict[str, object], chosen: str) -> None:
    """Without the embedding model the model picks among all descriptions, and then judges its choice."""
    library = TemplateLibrary([Template("sing", "sings a song"), Template("dance", "dances a waltz")])
    llm = says(f'{{"helper":"{answer}"}}', reply)
    chooser = TemplateChooser(library, TextRanking(WordEmbedder(available=False)), model_of(llm))
    outcome = await chooser.choose(SubtaskRequest("a song, please"), grant())
    assert (outcome.value.hints or (outcome.problem and outcome.problem.reason,))[0] == chosen
    assert llm.requests[0].schema is not None
    assert compact_json(llm.requests[0].schema["properties"]) == '{"helper":{"enum":["sing","dance","none"]}}'


async def test_of_a_large_library_the_nearest_are_listed() -> None:
    """Without vectors the question lists at most MAX_LISTED templates, those with the most words in common first."""
    others = [Template(f"t{number}", f"number {number}") for number in range(MAX_LISTED)]
    library = TemplateLibrary([*others, Template("sing", "sings a song")])
    llm = says('{"helper":"sing"}', YES)
    chooser = TemplateChooser(library, TextRanking(WordEmbedder(available=False)), model_of(llm))
    assert (await chooser.choose(SubtaskRequest("a song"), grant())).value.hints == ("sing",)
    schema = llm.requests[0].schema
    assert schema is not None
    listed: Any = as_object(as_object(schema["properties"])["helper"])["enum"]
    assert (len(listed), listed[0]) == (MAX_LISTED + 1, "sing")


async def test_without_the_model_nearness_decides() -> None:
    """When the budget has no call left, or the model fails, the nearest template is taken if it is near."""
    assert await Bench(sing=FITS, dance=FAR).choose(purse=grant(0, 0)) == "sing"
    assert await Bench(sing=FAR, dance=FAR).choose(purse=grant(0, 0)) == "TEMPLATE_NOT_FOUND"
    failing = Bench({"fail": "BAD_ANSWER"}, sing=FITS, dance=FITS - 0.01)
    assert await failing.choose() == "sing"


async def test_a_template_is_chosen_only_with_the_inputs_it_needs() -> None:
    """A request with inputs gets a template that needs no others; one without any says all in its description."""
    library = TemplateLibrary([Template("sing", "sing", inputs=("song",)), Template("dance", "dance")])
    embedder = ScoreEmbedder({"sing": 0.9, "dance": 0.6})
    chooser = TemplateChooser(library, TextRanking(embedder), model_of(says()))
    with_song = await chooser.choose(SubtaskRequest("x", {"song": "la"}), grant(0, 0))
    assert with_song.value.hints == ("sing",)
    other = await chooser.choose(SubtaskRequest("x", {"room": "hall"}), grant(0, 0))
    assert other.value.hints == ("dance",)
    described = await chooser.choose(SubtaskRequest("sing la"), grant(0, 0))
    assert described.value.hints == ("sing",)
    named = await chooser.choose(SubtaskRequest("x", {"room": "hall"}, ("sing",)), grant())
    assert named.problem is not None
    assert named.problem.reason == "TEMPLATE_INPUT_MISSING"
    assert "song" in named.problem.message


def test_only_the_first_paragraph_is_compared() -> None:
    """Material below the first paragraph does not choose the template; hints do."""
    request = SubtaskRequest("Sum it up.\n\nHow to bake bread", hints=("short",))
    assert wording_of(request) == "Sum it up.\nshort"


async def test_without_vectors_words_choose() -> None:
    """On a machine without the embedding model, equal words find the template; no word in common finds none."""
    library = TemplateLibrary([Template("sing", "sings a song"), Template("dance", "dances a waltz")])
    ranking = TextRanking(WordEmbedder(available=False))
    chooser = TemplateChooser(library, ranking, model_of(says()))
    assert (await chooser.choose(SubtaskRequest("a song, please"), grant(0, 0))).value.hints == ("sing",)
    nothing = await chooser.choose(SubtaskRequest("reboot"), grant(0, 0))
    assert nothing.problem is not None
    assert nothing.problem.reason == "TEMPLATE_NOT_FOUND"


async def test_an_empty_library_has_nothing_to_choose() -> None:
    """Without templates every request is refused with the reason, and no model is asked."""
    llm = says()
    chooser = TemplateChooser(TemplateLibrary(()), TextRanking(WordEmbedder()), model_of(llm))
    outcome = await chooser.choose(SubtaskRequest("sing"), grant())
    assert outcome.problem is not None
    assert (outcome.problem.reason, outcome.value) == ("TEMPLATE_NOT_FOUND", SubtaskRequest("sing"))
    assert not llm.requests


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
