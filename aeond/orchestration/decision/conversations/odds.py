"""Questions with one word for an answer: the odds of the word, from the probabilities of the first token."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from aeond.domain.llm import LikelyToken, LLMRequest
from aeond.domain.messages import Message
from aeond.domain.runs.budgets import Grant
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.ports import LLMAdapter

K = TypeVar("K")
T = TypeVar("T")
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


async def first_tokens(llm: LLMAdapter, messages: Sequence[Message], grant: Grant) -> tuple[LikelyToken, ...]:
    """The likeliest first tokens of the answer to a question with one word, for one call of the grant; () if the model gives none.
    All messages but the last are the same for every request."""
    asked = LLMRequest(tuple(messages), max_tokens=1, likely=LIKELY, fixed=True)
    answered = (await BudgetedLLM(llm, grant).generate(asked)).value
    return answered.likely if answered else ()


def keep(kept: dict[K, T], key: K, value: T, most: int) -> None:
    """Adds the value, and drops the oldest ones beyond so many."""
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]


def begun(token: LikelyToken, words: Iterable[str]) -> str:
    """The first of the words that the token begins with at least two letters; "" if it begins none."""
    start = token.text.strip()
    return next((word for word in words if len(start) > 1 and word.startswith(start)), "")
