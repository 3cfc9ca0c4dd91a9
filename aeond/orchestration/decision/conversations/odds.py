"""Questions with one word for an answer: the odds of the word, from the probabilities of the first token."""

import math
from collections.abc import Callable, Iterable
from typing import Final

from aeond.domain.llm import LikelyToken, LLMRequest, LLMResponse
from aeond.domain.runs.budgets import Grant
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.prompts.decision_prompts import Question
from aeond.ports import LLMAdapter

LIKELY: Final = 20  # tokens that are requested


def log_odds(likely: Iterable[LikelyToken], read: Callable[[str], str], wanted: str) -> float:
    """The logarithm of the odds of the wanted answer against all others; -inf if no token gives it, inf if none gives another.
    `read` returns the answer that the text of a token begins, "" if it begins none."""
    given = other = 0.0
    for token in likely:
        answer = read(token.text.strip())
        if answer == wanted:
            given += math.exp(token.logprob)
        elif answer:
            other += math.exp(token.logprob)
    if not given:
        return -math.inf
    return math.log(given) - math.log(other) if other else math.inf


def is_answered(likely: Iterable[LikelyToken], question: Question) -> bool:
    """Whether any of the tokens begins an answer to the question."""
    return any(question.read(token.text.strip()) for token in likely)


async def answer_to(question: Question, llm: LLMAdapter, grant: Grant, *parts: str) -> LLMResponse | None:
    """The first token of the answer with the likeliest ones, for one call of the grant; None if the model gives none."""
    asked = LLMRequest(question.messages(*parts), max_tokens=1, likely=LIKELY, fixed=True)
    return (await BudgetedLLM(llm, grant).generate(asked)).value


async def first_tokens(
    question: Question, llm: LLMAdapter, grant: Grant, *parts: str
) -> tuple[LikelyToken, ...]:
    """The likeliest first tokens of the answer, for one call of the grant; () if the model gives none."""
    answered = await answer_to(question, llm, grant, *parts)
    return answered.likely if answered else ()


async def odds_of(word: str, question: Question, llm: LLMAdapter, grant: Grant, *parts: str) -> float:
    """The log-odds of the word as the answer, for one call of the grant; -inf if the model does not give it."""
    return log_odds(await first_tokens(question, llm, grant, *parts), question.read, word)
