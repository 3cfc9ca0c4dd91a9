"""How probable each purpose of a request is, by the odds of two words of a small model, the form of the request, and what it shares with
what is kept here.

The most likely word alone is wrong more often than all the odds together: ADR 0116 has the measurements. The weights are fitted by
`python -m tests.eval.purposes`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from aeond.domain.llm import LikelyToken
from aeond.orchestration.context.statements import gives_operands, is_question, last_question, sentences
from aeond.orchestration.prompts.decision_prompts import Question
from aeond.orchestration.prompts.subject_prompts import INTENT, INTENT_WORDS, SUBJECT, SUBJECT_WORDS
from aeond.orchestration.purpose.surroundings import NOTHING_AROUND, Surroundings
from aeond.orchestration.purpose.weights import WEIGHTS

_LEAST: Final = 1e-9  # the share of a word that is not among the likely tokens
_LOWEST: Final = -8.0  # logarithm of a share


class Purpose(Enum):
    """What a person wants, in the order of the columns of the weights."""

    KNOW = auto()  # an answer from general knowledge
    LOOK = auto()  # an answer from what is kept here
    COMPUTE = auto()  # the result of a calculation
    TELL = auto()  # to have something remembered, or no longer
    EDIT = auto()  # to have files changed
    ACT = auto()  # to have something done elsewhere


ANSWERS: Final = (Purpose.KNOW, Purpose.LOOK, Purpose.COMPUTE)


def features(
    subject: Sequence[LikelyToken],
    intent: Sequence[LikelyToken],
    request: str,
    around: Surroundings = NOTHING_AROUND,
) -> tuple[float, ...]:
    """The logarithms of the words' shares of the subject and of the intent, the form of the request, and its surroundings, in the order of
    the rows of the weights. All words have the same share where the question was not asked or not answered."""
    said = sentences(request)
    return (
        *_shares(subject, SUBJECT, SUBJECT_WORDS),
        *_shares(intent, INTENT, INTENT_WORDS),
        float(bool(last_question(request))),
        float(any(map(is_question, said))),
        float(gives_operands(request)),
        float(around.near_file),
        float(around.names_new_file),
        float(around.names_fact),
        float(around.shares_fact),
        1.0,
    )


def probabilities(
    subject: Sequence[LikelyToken],
    intent: Sequence[LikelyToken],
    request: str,
    around: Surroundings = NOTHING_AROUND,
) -> Mapping[Purpose, float]:
    """The probability of each purpose."""
    found = features(subject, intent, request, around)
    odds = [sum(x * w for x, w in zip(found, column, strict=True)) for column in zip(*WEIGHTS, strict=True)]
    highest = max(odds)
    shares = [math.exp(one - highest) for one in odds]
    return {purpose: share / sum(shares) for purpose, share in zip(Purpose, shares, strict=True)}


def _shares(likely: Iterable[LikelyToken], question: Question, words: Sequence[str]) -> Sequence[float]:
    given = dict.fromkeys(words, _LEAST)
    for token in likely:
        word = question.read(token.text.strip())
        if word in given:
            given[word] += math.exp(token.logprob)
    whole = sum(given.values())
    return [max(_LOWEST, math.log(share / whole)) for share in given.values()]
