from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeond.domain.llm import (
    FinishReason,
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    Timing,
    TokenUsage,
)
from aeond.domain.messages import Message, Role
from aeond.domain.runs.budgets import MAX_MODEL_CALLS, Amounts, Grant, ModelCall, ModelUse
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut, repeats_itself
from tests.support.strategy import grant, says

UNMEASURED = Timing()


def ask(text: str = "one two three", max_tokens: int = 200) -> LLMRequest:
    return LLMRequest((Message(Role.USER, text),), max_tokens=max_tokens)


async def test_only_what_was_used_is_paid() -> None:
    """A call costs one model call and exactly the tokens of its prompt and answer."""
    llm, purse = says("four five six"), grant(3, 1000)
    outcome = await BudgetedLLM(llm, purse).generate(ask())
    assert outcome.value is not None
    assert purse.used == Amounts(llm_calls=1, tokens=outcome.value.usage.total_tokens)
    assert purse.used.tokens == await llm.count_tokens(ask().messages) + 3


async def test_model_use_adds_up_over_calls() -> None:
    """Tokens, cached ones and seconds of several calls add up, whether streamed or not; the first word is the first
    call's, and each call is listed too."""
    purse = grant(9, 1000)
    llm = BudgetedLLM(LyingLLM(10, TokenUsage(10, 5, 8), Timing(0.5, 2.0, 1_700.0)), purse)
    assert purse.model_use is None
    await llm.generate(ask())
    await llm.stream(ask(), lambda _: None)
    call = ModelCall(10, 5, 8, 0.5, 2.0, 1_700.0)
    assert purse.model_use == ModelUse(20, 10, 16, 0.5, 4.0, (call, call))


def test_a_bounded_number_of_model_calls_is_listed() -> None:
    """Calls beyond the bound, and those that an agent counted by itself, are in the sums only."""
    call = ModelCall(10, 5, engine_seconds=2.0)
    use = sum((ModelUse.of(call) for _ in range(MAX_MODEL_CALLS)), ModelUse())
    assert (len(use.calls), use.rest) == (MAX_MODEL_CALLS, None)
    more = use + ModelUse.of(call) + ModelUse(7, 1)
    assert (more.calls, more.rest) == (use.calls, ModelCall(17, 6, engine_seconds=2.0))
    assert ModelUse(7, 1, 0, 0.5, 3.0).rest == ModelCall(7, 1, 0, 0.5, 3.0)


async def test_the_longest_answer_shrinks_to_what_is_left() -> None:
    """With little left the answer may be shorter, and one that was cut is seen as such."""
    llm, purse = says("word " * 500), grant(1, 60)
    outcome = await BudgetedLLM(llm, purse).generate(ask())
    assert outcome.value is not None
    assert is_cut(outcome.value)
    assert purse.used.tokens == 60
    assert llm.requests[0].max_tokens == 60 - await llm.count_tokens(ask().messages)


async def test_an_answer_that_finds_no_end_is_cut() -> None:
    """A streamed answer that says the same over and over ends as if it were too long, and what it was to cost at most is given back."""
    llm, purse = says("oats, milk, rye " * 400), grant(2, 5000)
    outcome = await BudgetedLLM(llm, purse).stream(ask(max_tokens=1600), lambda _: None)
    assert outcome.value is not None
    assert is_cut(outcome.value)
    assert 400 <= len(outcome.value.text) < 600
    assert purse.used.tokens == outcome.value.usage.total_tokens < 300


async def test_an_answer_that_is_cut_costs_the_pieces_that_came() -> None:
    """A chunk costs as many tokens as the engine sent pieces in it, and never more than the answer could have."""
    for max_tokens, paid in ((1600, 240), (200, 200)):
        purse = grant(2, 5000)
        outcome = await BudgetedLLM(Babbling(10), purse).stream(ask(max_tokens=max_tokens), lambda _: None)
        assert outcome.value is not None
        assert is_cut(outcome.value)
        assert outcome.value.usage == TokenUsage(10, paid)
        assert purse.used.tokens == 10 + paid


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("oats, " * 100, True),
        ("begin: " + "-" * 400, True),
        ("oats, " * 20, False),
        ("\n".join(f"{number},{number * 7}" for number in range(200)), False),
        ("x" * 399, False),
    ],
)
def test_only_the_same_over_and_over_is_a_repetition(text: str, *, repeats: bool) -> None:
    """A short piece that fills the end of a text is a repetition; rows that differ are none."""
    assert repeats_itself(text) is repeats


@pytest.mark.parametrize("purse", [grant(0, 1000), grant(1, 20), grant(1, 0), Grant(Amounts())])
async def test_a_spent_grant_makes_no_call(purse: Grant) -> None:
    """Without a call or a useful answer's tokens left the model is not asked, and the problem says so."""
    llm = says("four")
    outcome = await BudgetedLLM(llm, purse).generate(ask())
    assert outcome.problem is not None
    assert outcome.problem.reason == "BUDGET_SPENT"
    assert purse.used == Amounts()
    assert not llm.requests


async def test_a_short_answer_may_be_asked_for_with_little_left() -> None:
    """A request for a few tokens needs no more than these."""
    outcome = await BudgetedLLM(says("yes"), grant(1, 10)).generate(ask(max_tokens=2))
    assert outcome.ok


@pytest.mark.parametrize("constrains", [True, False])
async def test_a_schema_goes_only_to_a_model_that_can_be_constrained(constrains: bool) -> None:
    """The schema of a request is left out for a model whose output no schema can constrain."""
    llm = LyingLLM(10, TokenUsage(10, 5))
    llm.capabilities = replace(llm.capabilities, schema=constrains)
    await BudgetedLLM(llm, grant()).generate(replace(ask(), schema={"type": "object"}))
    assert [request.schema for request in llm.requests] == [{"type": "object"} if constrains else None]


async def test_a_prompt_that_does_not_fit_the_context_is_refused() -> None:
    """A prompt beyond the model's context is a problem before anything is spent."""
    purse = grant()
    outcome = await BudgetedLLM(says("x", context_length=40), purse).generate(ask("word " * 60))
    assert outcome.problem is not None
    assert outcome.problem.reason == "CONTEXT_TOO_LONG"
    assert purse.used == Amounts()


async def test_the_answer_shrinks_to_the_context() -> None:
    """Prompt and answer together never exceed the model's context."""
    llm = says("word " * 500, context_length=100)
    outcome = await BudgetedLLM(llm, grant()).generate(ask())
    assert outcome.value is not None
    assert outcome.value.usage.total_tokens == 100


@pytest.mark.parametrize(
    ("rule", "retryable"),
    [
        ({"fail": "BAD_ANSWER"}, False),
        ({"fail": "BUSY", "retryable": True}, True),
        ({"gone": True, "retryable": True}, True),
    ],
)
async def test_a_failing_model_is_a_problem(rule: dict[str, object], retryable: bool) -> None:
    """An error of the model comes as a problem that says whether trying again can help."""
    outcome = await BudgetedLLM(says(rule), grant()).generate(ask())
    assert outcome.problem is not None
    assert outcome.problem.reason in {"BAD_ANSWER", "BUSY", "LLM_GONE"}
    assert outcome.problem.retryable is retryable


async def test_text_is_shown_as_it_comes() -> None:
    """A streamed answer is shown piece by piece and returned whole."""
    shown: list[str] = []
    outcome = await BudgetedLLM(says("a text of several pieces"), grant()).stream(ask(), shown.append)
    assert outcome.value is not None
    assert outcome.value.text == "".join(shown) == "a text of several pieces"
    assert len(shown) > 1


async def test_only_a_whole_answer_is_a_text() -> None:
    """The text of an answer that ended by itself is returned, shown or not; of one that was cut, or failed, there is none."""
    shown: list[str] = []
    llm = BudgetedLLM(says("one two", "one two", "one two", "one two"), grant(3))
    assert await llm.text(ask()) == "one two"
    assert await llm.text(ask(), shown.append) == "one two"
    assert "".join(shown) == "one two"
    assert await llm.text(ask(max_tokens=1)) == ""
    assert await llm.text(ask()) == ""


async def test_an_engine_that_dies_on_the_way_is_asked_again() -> None:
    """An answer broken off by a dying engine starts over, visibly, and each call is paid."""
    shown: list[str] = []
    llm = says({"text": "a text that breaks", "fail_after": 1, "gone": True, "times": 1}, "a text that ends")
    purse = grant(3, 1000)
    outcome = await BudgetedLLM(llm, purse).stream(ask(), shown.append)
    assert outcome.value is not None
    assert outcome.value.text == "a text that ends"
    assert "".join(shown[shown.index("") :]) == "a text that ends"
    assert purse.used.llm_calls == 2


async def test_an_engine_that_keeps_dying_is_given_up() -> None:
    """An engine that dies each time is asked three times and no oftener."""
    llm = says({"text": "a text that breaks", "fail_after": 1, "gone": True})
    outcome = await BudgetedLLM(llm, grant()).stream(ask(), lambda _: None)
    assert outcome.problem is not None
    assert outcome.problem.reason == "LLM_GONE"
    assert len(llm.requests) == 3


async def test_cancelling_passes_through() -> None:
    """A cancelled call ends as cancelled, not as a problem."""
    llm = says({"text": "never", "stall": True})
    with anyio.move_on_after(5) as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(BudgetedLLM(llm, grant()).generate, ask())
            while not llm.in_flight:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    assert not scope.cancelled_caught
    assert llm.in_flight == 0


class LyingLLM:
    """Reports the usage that it was given, whatever the request allows."""

    model = "liar"
    capabilities = LLMCapabilities(schema=True, context_length=1000)

    def __init__(self, prompt: int, usage: TokenUsage, timing: Timing = UNMEASURED) -> None:
        self.prompt = prompt
        self.usage = usage
        self.timing = timing
        self.requests: list[LLMRequest] = []

    async def count_tokens(self, messages: Sequence[Message], tools: object = ()) -> int:
        return self.prompt

    async def generate(self, request: LLMRequest) -> LLMResponse:
        self.requests.append(request)
        return LLMResponse("lie", self.usage, self.model, FinishReason.STOP, self.timing)

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        yield LLMChunk("lie", FinishReason.STOP, self.usage, self.timing)


class Babbling(LyingLLM):
    """Its answer finds no end; 30 tokens come together."""

    def __init__(self, prompt: int) -> None:
        super().__init__(prompt, TokenUsage())

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        while True:
            yield LLMChunk("over " * 10, pieces=30)


@given(
    st.integers(0, 300),
    st.builds(TokenUsage, st.integers(0, 5000), st.integers(0, 5000)),
    st.lists(st.tuples(st.integers(1, 400), st.booleans()), max_size=6),
    st.integers(0, 4),
    st.integers(0, 1500),
)
async def test_no_model_can_overshoot_a_grant(
    prompt: int, usage: TokenUsage, asked: list[tuple[int, bool]], llm_calls: int, tokens: int
) -> None:
    """Whatever a model claims to have used, a grant is never exceeded."""
    purse = grant(llm_calls, tokens)
    metered = BudgetedLLM(LyingLLM(prompt, usage), purse)
    for max_tokens, streamed in asked:
        if streamed:
            await metered.stream(ask(max_tokens=max_tokens), lambda _: None)
        else:
            await metered.generate(ask(max_tokens=max_tokens))
        assert purse.used.exceeding(purse.reservation) == ""
        assert purse.used.tokens >= 0
    assert purse.used.llm_calls <= min(llm_calls, len(asked))
