"""The probabilities of what a person wants with a request."""

import pytest

from aeond.domain.llm import LikelyToken
from aeond.orchestration.purpose.purposes import Purpose, features, probabilities
from aeond.orchestration.purpose.surroundings import Surroundings
from aeond.orchestration.purpose.weights import WEIGHTS
from tests.support.deciders import words

ORDER, QUESTION = "The hall lamp.", "Which lamp is in the hall?"


def tokens(**shares: float) -> tuple[LikelyToken, ...]:
    return tuple(LikelyToken(*one) for one in words(**shares).items())


@pytest.mark.parametrize(
    ("said", "request_", "purpose"),
    [
        (tokens(know=0.9, ask=0.9), QUESTION, Purpose.KNOW),
        (tokens(files=0.9, ask=0.9), QUESTION, Purpose.LOOK),
        (tokens(facts=0.9, ask=0.9), QUESTION, Purpose.LOOK),
        (tokens(compute=0.8, know=0.1, do=0.05, ask=0.9), "What do 12 lamps at 8.50 cost?", Purpose.COMPUTE),
        (tokens(do=0.9, tell=0.9), ORDER, Purpose.TELL),
        (tokens(do=0.9, edit=0.9), ORDER, Purpose.EDIT),
        (tokens(do=0.9, act=0.97), ORDER, Purpose.ACT),
    ],
)
def test_words_that_agree_make_their_purpose_the_likeliest(
    said: tuple[LikelyToken, ...], request_: str, purpose: Purpose
) -> None:
    """Where both words and the form of the request say the same, that purpose has most of the probability."""
    found = probabilities(said, said, request_)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found[purpose] > 0.5


def test_words_without_an_answer_have_equal_shares() -> None:
    """A question without an answer, and tokens that begin no word of it, say nothing for one word and against another."""
    nothing = features((), (), ORDER)
    assert features((LikelyToken("lamp", -0.1),), (), ORDER) == nothing
    assert len(set(nothing[:5])) == len(set(nothing[5:9])) == 1


def test_the_form_of_a_request_counts() -> None:
    """Of the same words an answer is more likely wanted where the request is a question."""
    said = tokens(files=0.6, do=0.4)
    order, question = (probabilities(said, (), one)[Purpose.LOOK] for one in (ORDER, QUESTION))
    assert question > order


def test_surroundings_count() -> None:
    """Of the same words a fact that the request names makes a statement likelier, and a new file a change of files."""
    said = tokens(do=0.9, edit=0.5, tell=0.5)
    plain = probabilities(said, said, ORDER)
    named = probabilities(said, said, ORDER, Surroundings(names_fact=True, shares_fact=True))
    new = probabilities(said, said, ORDER, Surroundings(names_new_file=True))
    assert named[Purpose.TELL] > plain[Purpose.TELL] > new[Purpose.TELL]
    assert new[Purpose.EDIT] > plain[Purpose.EDIT] > named[Purpose.EDIT]


def test_each_feature_has_a_weight_for_each_purpose() -> None:
    """The weights have a row for each feature and a column for each purpose."""
    assert len(WEIGHTS) == len(features((), (), ORDER))
    assert {len(row) for row in WEIGHTS} == {len(Purpose)}
