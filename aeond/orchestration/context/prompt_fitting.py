"""Fitting results into a prompt by exact token counts: shortened visibly, never cut silently."""

from collections.abc import Callable, Sequence
from typing import Final

from aeond.domain.llm import ToolSchema
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs.budgets import Grant
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.orchestration.budget.budgeted_llm import USEFUL_TOKENS, problem_of
from aeond.ports import LLMAdapter

MAX_ROUNDS: Final = 5
MIN_RESULT_CHARS: Final = 200
_MARGIN: Final = 0.95


@frozen
class FittedPrompt:
    """Messages, what they cost in tokens, and whether results were shortened for them."""

    messages: tuple[Message, ...]
    tokens: int
    shortened: bool


def room_in(grant: Grant, llm: LLMAdapter, answer_tokens: int = USEFUL_TOKENS) -> int:
    """The tokens that the grant and the context of the model leave for a prompt beside an answer."""
    return min(grant.left.tokens, llm.capabilities.context_length) - answer_tokens


async def fit_prompt(
    llm: LLMAdapter,
    build: Callable[[int], tuple[Message, ...]],
    result_chars: int,
    max_tokens: int,
    tools: Sequence[ToolSchema] = (),
) -> Outcome[FittedPrompt | None]:
    """The prompt with as many characters of results as fit into `max_tokens` together with the tools.

    `build` makes the messages with at most that many characters of results. A prompt that does not fit
    even with next to none of them is a PROMPT_TOO_LONG problem.
    """
    room = result_chars
    tokens = 0
    for _ in range(MAX_ROUNDS):
        messages = build(room)
        try:
            tokens = await llm.count_tokens(messages, tools)
        except AeondError as error:
            return failure(problem_of(error), None)
        if tokens <= max_tokens:
            return success(FittedPrompt(messages, tokens, shortened=room < result_chars))
        if room <= MIN_RESULT_CHARS:
            break
        # The excess must come out of the results; a token of them has about room/tokens characters.
        over = (tokens - max_tokens) / tokens
        room = max(MIN_RESULT_CHARS, min(int(room * _MARGIN * (1 - over)), int(room * _MARGIN)))
    message = f"the prompt has {tokens} tokens and {max_tokens} are allowed"
    return failure(Problem("PROMPT_TOO_LONG", message), None)
