"""The odds of a one-word answer, from the probabilities of its first token."""

import math
from collections.abc import Callable, Iterable
from typing import Final

from aeond.domain.llm import LikelyToken

LIKELY: Final = 20  # tokens that are requested


def log_odds(likely: Iterable[LikelyToken], answer_of: Callable[[LikelyToken], str], wanted: str) -> float:
    """The logarithm of the odds of the wanted answer against all others; -inf if no token gives it, inf if none gives another.
    `answer_of` returns the answer that a token begins, "" if it begins none."""
    given = other = 0.0
    for token in likely:
        answer = answer_of(token)
        if answer == wanted:
            given += math.exp(token.logprob)
        elif answer:
            other += math.exp(token.logprob)
    if not given:
        return -math.inf
    return math.log(given) - math.log(other) if other else math.inf
