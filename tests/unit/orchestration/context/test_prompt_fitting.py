from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.messages import Message, Role
from aeond.orchestration.budget.budgeted_llm import USEFUL_TOKENS
from aeond.orchestration.context.prompt_fitting import MIN_RESULT_CHARS, fit_prompt, room_in
from aeond.orchestration.context.shortening import shorten
from tests.support.strategy import grant, says


def prompt(results: str, chars: int) -> tuple[Message, ...]:
    return (Message(Role.USER, f"Rules.\n{shorten(results, chars)}"),)


@given(st.integers(0, 20_000), st.integers(30, 3_000))
async def test_a_prompt_fits_its_tokens_and_says_what_it_lost(length: int, max_tokens: int) -> None:
    """Results are shortened until the exact count fits, and only if they must be."""
    llm = says()
    results = ("word " * length)[:length]
    fitted = await fit_prompt(llm, lambda chars: prompt(results, chars), length, max_tokens)
    whole = await llm.count_tokens(prompt(results, length))
    if fitted.value is not None:
        assert fitted.value.tokens == await llm.count_tokens(fitted.value.messages) <= max_tokens
        assert fitted.value.shortened is (whole > max_tokens)
        assert ("left out" in str(fitted.value.messages[0].content)) is fitted.value.shortened
    else:
        least = await llm.count_tokens(prompt(results, MIN_RESULT_CHARS))
        assert least > max_tokens or length > 10 * max_tokens


async def test_a_prompt_that_cannot_fit_is_a_problem() -> None:
    """When even the rules are too long nothing is sent."""
    fitted = await fit_prompt(says(), lambda _: prompt("", 0), 0, 1)
    assert fitted.problem is not None
    assert fitted.problem.reason == "PROMPT_TOO_LONG"


async def test_a_tokenizer_that_fails_is_a_problem() -> None:
    """An engine that cannot count is reported as a problem."""

    class NoTokenizer:
        async def count_tokens(self, _: object, tools: object = ()) -> int:
            from aeond.errors import LLMGoneError

            raise LLMGoneError("The engine is gone.")

    fitted = await fit_prompt(NoTokenizer(), lambda _: prompt("", 0), 0, 100)  # type: ignore[arg-type]  # only counts
    assert fitted.problem is not None
    assert (fitted.problem.reason, fitted.problem.retryable) == ("LLM_GONE", True)


def test_a_prompt_leaves_room_for_an_answer() -> None:
    """Neither the grant nor the context of the model is filled by the prompt alone."""
    assert room_in(grant(tokens=1_000), says(context_length=8_192), 100) == 900
    assert room_in(grant(tokens=9_000), says(context_length=8_192)) == 8_192 - USEFUL_TOKENS
