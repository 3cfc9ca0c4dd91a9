"""Asks a small model which remembered fact a request corrects, with the facts in one order and in the other: it prefers some letters to others.

How likely its letter is and how near the fact is to the request, by meaning and words, are right together far more often than one of
them: ADR 0130 has the measurements.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from aeond.domain.llm import LikelyToken
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import JsonValue, display_json, short_line
from aeond.frozen import frozen
from aeond.orchestration.decision.conversations.odds import first_tokens, is_answered
from aeond.orchestration.last_runs import LastRuns
from aeond.orchestration.matching.text_ranking import Described, Ranking, TextRanking
from aeond.orchestration.prompts.subject_prompts import CORRECTION, FACT_LETTERS, NO_FACT
from aeond.ports import LLMAdapter

LIKELY_FROM: Final = 0.3  # probability
SURE_FROM: Final = 0.6  # probability
# Of a fact that can be corrected: more is not in view when its new value is written.
MAX_VALUE_CHARS: Final = 120
CALLS: Final = 4  # two questions, the decision, and what it leads to
_LEAST: Final = 1e-6  # the share of a letter that is not among the likely tokens


@frozen
class Weights:
    """Of the mean logarithm of a letter's share, of the score of its fact, and of that of "none", with what "none" has
    besides."""

    letter: float
    score: float
    none: float
    bias: float


# Fitted by `python -m tests.eval.corrections`, on requests that correct a fact and on others.
BY_MEANING: Final = Weights(2.83, 7.7, 1.16, 2.16)
BY_WORDS: Final = Weights(3.2, 65.8, 1.3, 0.85)


@frozen
class Correction:
    """A remembered fact, and how probable it is that a request corrects it."""

    name: str
    value: JsonValue
    probability: float

    @property
    def is_likely(self) -> bool:
        """Whether it is this fact, if a fact is to be corrected or something new to be remembered."""
        return self.probability >= LIKELY_FROM

    @property
    def is_sure(self) -> bool:
        """Whether it is this fact, whatever else the request may be for."""
        return self.probability >= SURE_FROM


@frozen
class Corrections:
    """The facts that the requests of the last runs correct, each asked for once; `known` holds them by run and request, None where the model
    named no letter."""

    ranking: TextRanking
    known: LastRuns[tuple[str, str], Correction | None] = field(default_factory=LastRuns)

    async def of(
        self, llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Correction | None:
        """The fact in view that the run's request most likely corrects, however improbable, for two calls of the grant if that is not known yet and
        CALLS are left. None if it is not known, as without facts in view."""
        key = (run.run_id, run.text)
        if key in self.known or grant.left.llm_calls < CALLS:
            return self.known.get(key)
        ranking = await self.ranking.rank(run.text, described(situation.facts))
        facts = listed(situation.facts, ranking)
        if not facts:
            return None
        likely = await first_tokens(CORRECTION, llm, grant, view_of(facts), run.text)
        if not likely:  # a model that failed is asked again
            return None
        self.known[key] = None
        if is_answered(likely, CORRECTION):
            reverse = await first_tokens(CORRECTION, llm, grant, view_of(facts[::-1]), run.text)
            if is_answered(reverse, CORRECTION):
                shares = probabilities(likely, reverse, [name for name, _ in facts], ranking)
                name, value = max(facts, key=lambda fact: shares[fact[0]])
                self.known[key] = Correction(name, value, shares[name])
        return self.known[key]


def letter_logs(likely: Sequence[LikelyToken], count: int) -> tuple[float, ...]:
    """The logarithms of the shares of the first letters, so many, and then of "none"."""
    given = dict.fromkeys([*FACT_LETTERS[:count], NO_FACT], 0.0)
    for token in likely:
        answer = CORRECTION.read(token.text.strip())
        if answer in given:
            given[answer] += math.exp(token.logprob)
    return tuple(math.log(max(_LEAST, share)) for share in given.values())


def mean_logs(
    likely: Sequence[LikelyToken], reverse: Sequence[LikelyToken], count: int
) -> tuple[Sequence[float], float]:
    """The mean logarithms of the shares of so many facts, and of "none", in both orders."""
    *letters, none = letter_logs(likely, count)
    *others, other = letter_logs(reverse, count)
    pairs = zip(letters, reversed(others), strict=True)
    return [(one + two) / 2 for one, two in pairs], (none + other) / 2


def probabilities(
    likely: Sequence[LikelyToken], reverse: Sequence[LikelyToken], names: Sequence[str], ranking: Ranking
) -> Mapping[str, float]:
    """How probable it is that each of the facts is corrected, by the likely tokens for their letters in this order and in the reverse one, and by
    their scores."""
    letters, none = mean_logs(likely, reverse, len(names))
    weights = BY_MEANING if ranking.by_meaning else BY_WORDS
    scores = dict(ranking.scores)
    odds = {
        name: math.exp(weights.letter * letter + weights.score * scores[name])
        for letter, name in zip(letters, names, strict=True)
    }
    whole = sum(odds.values()) + math.exp(weights.none * none + weights.bias)
    return {name: share / whole for name, share in odds.items()}


def listed(facts: Sequence[tuple[str, JsonValue]], ranking: Ranking) -> Sequence[tuple[str, JsonValue]]:
    """The facts that get a letter: of those that are short enough the nearest ones, in their order."""
    short = {name for name, value in facts if len(display_json(value)) <= MAX_VALUE_CHARS}
    nearest = [name for name, _ in ranking.scores if name in short][: len(FACT_LETTERS)]
    return [fact for fact in facts if fact[0] in nearest]


def view_of(facts: Sequence[tuple[str, JsonValue]]) -> str:
    """The facts with their letters, a line each."""
    lines = (line_of(*fact) for fact in facts)
    return "\n".join(f"{letter} {line}" for letter, line in zip(FACT_LETTERS, lines, strict=False))


def line_of(name: str, value: JsonValue) -> str:
    """A fact as it is shown and ranked."""
    return short_line(f"{name.replace('_', ' ')}: {display_json(value)}", 2 * MAX_VALUE_CHARS)


def described(facts: Sequence[tuple[str, JsonValue]]) -> Sequence[Described]:
    return [Described(name, (line_of(name, value),)) for name, value in facts]
