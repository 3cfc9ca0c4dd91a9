"""Finding the template for a subtask by what its words mean to people."""

from dataclasses import replace

import pytest

from aeond.capabilities.templates.loading import load_templates
from aeond.domain.subtasks import SubtaskRequest, Template
from aeond.orchestration.template_matching import TemplateLibrary
from tests.support.template_requests import NOTHING_FITS, TUNED, UNSEEN, others

SHIPPED = [file.template for file in load_templates()]


def everything() -> TemplateLibrary:
    """The shipped templates and twelve more, all of them content with what any request has."""
    return TemplateLibrary([replace(template, inputs=()) for template in (*SHIPPED, *others())])


def recall(cases: tuple[tuple[str, str], ...]) -> float:
    library = everything()
    right = sum(library.rank(SubtaskRequest(said))[0][0].name == wanted for wanted, said in cases)
    return right / len(cases)


def test_paraphrases_find_their_template() -> None:
    """Of requests in people's own words at least nine in ten find the right one of sixteen templates, also
    of those that nobody looked at while the matching was made."""
    assert recall(TUNED) >= 0.95
    assert recall(UNSEEN) >= 0.9


def test_a_template_named_by_a_hint_is_taken() -> None:
    """A hint that is a template's name settles it, whatever the description sounds like."""
    request = SubtaskRequest("compare these two", {"text": "..."}, ("summarise",))
    matched = TemplateLibrary(SHIPPED).match(request)
    assert matched.value is not None
    assert matched.value.name == "summarise"


def test_a_template_is_taken_only_with_the_inputs_it_wants() -> None:
    """Of the templates that sound right the one is taken that gets all its inputs."""
    library = TemplateLibrary(SHIPPED)
    matched = library.match(SubtaskRequest("what is the difference?", {"first": "a", "second": "b"}))
    assert matched.value is not None
    assert matched.value.name == "compare"
    lacking = library.match(SubtaskRequest("what is the difference?", {"first": "a"}))
    assert lacking.value is None
    assert lacking.problem is not None
    assert lacking.problem.reason == "TEMPLATE_INPUT_MISSING"
    assert "second" in lacking.problem.message


@pytest.mark.parametrize("said", [said for said in NOTHING_FITS if "volume" not in said])
def test_what_sounds_like_nothing_known_is_refused(said: str) -> None:
    """A request that none of the shipped templates is for, with hardly a word of theirs, gets a problem that says so."""
    library = TemplateLibrary([replace(template, inputs=()) for template in SHIPPED])
    matched = library.match(SubtaskRequest(said))
    assert matched.value is None
    assert matched.problem is not None
    assert matched.problem.reason == "TEMPLATE_NOT_FOUND"
    assert "compare" in matched.problem.message


def test_spelling_and_endings_do_not_matter_much() -> None:
    """Other forms of a word, and a slip in it, are still that word."""
    library = everything()
    for said in ("summarising this", "SUMMARY!", "sumarize it", "a summarisation"):
        assert library.rank(SubtaskRequest(said))[0][0].name == "summarise", said


def test_an_empty_library_and_an_empty_request_match_nothing() -> None:
    """Nothing to choose from, or nothing to choose by, is a problem and no exception."""
    assert TemplateLibrary(()).match(SubtaskRequest("summarise")).value is None
    assert everything().match(SubtaskRequest("")).value is None
    assert TemplateLibrary([Template("bare", "")]).match(SubtaskRequest("?!")).value is None
