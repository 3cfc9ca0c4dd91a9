"""Choosing the template for a subtask: by name, by asking the model, and by score where it cannot be asked."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from aeond.domain.plans.subtasks import SubtaskRequest, Template
from aeond.domain.runs.budgets import Grant
from aeond.domain.values import compact_json
from aeond.orchestration.matching.template_choice import (
    LEAST_BY_MEANING,
    MAX_LISTED,
    TemplateChooser,
    TemplateLibrary,
    wording_of,
)
from aeond.orchestration.matching.text_ranking import TextRanking
from aeond.orchestration.repair.schema_parts import as_object
from aeond.ports.embedding import Embedder, Vector
from tests.support.embedders import WordEmbedder
from tests.support.judging import model_of
from tests.support.strategy import grant, says

FITS, FAR = LEAST_BY_MEANING + 0.1, LEAST_BY_MEANING - 0.05


class ScoreEmbedder:
    """Gives texts vectors whose cosine with any query is what the test says."""

    name = "scores"
    dimensions = 2
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


@pytest.mark.parametrize(
    ("answer", "chosen"), [("dance", "dance"), ("sing", "sing"), ("none", "TEMPLATE_NOT_FOUND")]
)
async def test_the_model_decides(answer: str, chosen: str) -> None:
    """The choice is one question to the model, with "none" among the choices, whatever the scores are."""
    bench = Bench(f'{{"helper":"{answer}"}}', sing=FITS, dance=FAR)
    assert await bench.choose() == chosen
    assert len(bench.llm.requests) == 1
    assert bench.grant.used.llm_calls == 1


async def test_the_model_sees_the_whole_library() -> None:
    """All templates are listed in the order of the library, so that the engine reads their list once."""
    bench = Bench(*['{"helper":"none"}'] * 2, a=FITS, b=FITS + 0.01, c=FAR)
    await bench.choose()
    await bench.choose(SubtaskRequest("do something else"))
    first, second = bench.llm.requests
    assert first.schema is not None
    assert compact_json(first.schema["properties"]) == '{"helper":{"enum":["a","b","c","none"]}}'
    assert first.messages[0].content == second.messages[0].content


async def test_of_a_large_library_the_nearest_are_listed() -> None:
    """The question lists at most MAX_LISTED templates, the nearest first."""
    far = {f"t{number}": number / 1_000 for number in range(MAX_LISTED)}
    bench = Bench('{"helper":"near"}', **far, near=FITS)
    assert await bench.choose() == "near"
    schema = bench.llm.requests[0].schema
    assert schema is not None
    listed: Any = as_object(as_object(schema["properties"])["helper"])["enum"]
    assert (len(listed), listed[0], "t0" in listed) == (MAX_LISTED + 1, "near", False)


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
