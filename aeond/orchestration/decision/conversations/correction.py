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

LIKELY: Final = 0.3  # probability
SURE: Final = 0.6  # probability
MAX_VALUE_CHARS: Final = 120
_LEAST: Final = 1e-6  # the share of a letter that is not among the likely tokens


@frozen
class Weights:
    """Of the mean logarithm of a letter's share, of the score of its fact, and of that of "none", with what "none" has
    besides."""

    letter: float
    score: float
    none: float
    bias: float


BY_MEANING: Final = Weights(2.83, 7.7, 1.16, 2.16)
BY_WORDS: Final = Weights(3.2, 65.8, 1.3, 0.85)
"""Fitted by `python -m tests.eval.corrections`, on requests that correct a fact and on others."""


@frozen
class Correction:
    """A remembered fact, and how probable it is that a request corrects it."""

    name: str
    value: JsonValue
    probability: float

    @property
    def is_likely(self) -> bool:
        """Whether it is this fact, if a fact is to be corrected or something new to be remembered."""
        return self.probability >= LIKELY

    @property
    def is_sure(self) -> bool:
        """Whether it is this fact, whatever else the request may be for."""
        return self.probability >= SURE


@frozen
class Corrections:
    """The facts that the requests of the last runs correct, each asked for once; `known` holds them by run and request."""

    ranking: TextRanking
    known: LastRuns[tuple[str, str], Correction] = field(default_factory=LastRuns)

    async def of(
        self, llm: LLMAdapter, run: RunSnapshot, situation: Situation, grant: Grant
    ) -> Correction | None:
        """The fact in view that the run's request most likely corrects, for two calls of the grant if that is not known yet and another one is
        left. None without facts in view, and if the model names none of the letters."""
        key = (run.run_id, run.text)
        if key not in self.known and situation.facts and grant.left.llm_calls > 2:
            ranking = await self.ranking.rank(run.text, described(situation.facts))
            facts = listed(situation.facts, ranking)
            likely = await first_tokens(CORRECTION, llm, grant, view_of(facts), run.text)
            reverse = await first_tokens(CORRECTION, llm, grant, view_of(facts[::-1]), run.text)
            if is_answered(likely, CORRECTION) and is_answered(reverse, CORRECTION):
                shares = probabilities(likely, reverse, [name for name, _ in facts], ranking)
                name, value = max(facts, key=lambda fact: shares[fact[0]])
                self.known[key] = Correction(name, value, shares[name])
        return self.known.get(key)


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
    """The facts that get a letter: the nearest ones, in their order."""
    nearest = {name for name, _ in ranking.scores[: len(FACT_LETTERS)]}
    return [fact for fact in facts if fact[0] in nearest]


def view_of(facts: Sequence[tuple[str, JsonValue]]) -> str:
    """The facts with their letters, a line each."""
    lines = (line_of(*fact) for fact in facts)
    return "\n".join(f"{letter} {line}" for letter, line in zip(FACT_LETTERS, lines, strict=False))


def line_of(name: str, value: JsonValue) -> str:
    """A fact as it is shown and ranked."""
    return f"{name.replace('_', ' ')}: {short_line(display_json(value), MAX_VALUE_CHARS)}"


def described(facts: Sequence[tuple[str, JsonValue]]) -> Sequence[Described]:
    return [Described(name, (line_of(name, value),)) for name, value in facts]
