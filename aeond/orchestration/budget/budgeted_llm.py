"""A model that is paid for: every call is taken from a grant before it is made."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from aeond.concurrency import closing
from aeond.domain.llm import (
    FinishReason,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    Timing,
    TokenUsage,
    response_of,
)
from aeond.domain.outcome import BUDGET_SPENT, Outcome, Problem, failure, success
from aeond.domain.runs.budgets import Amounts, Grant, ModelCall, ModelUse
from aeond.errors import (
    AeondError,
    CapabilityError,
    LLMError,
    LLMGoneError,
    OverloadedError,
    UnavailableError,
)
from aeond.ports import LLMAdapter, TextSink

USEFUL_TOKENS: Final = 24  # an answer shorter than this is not worth a call
# How much of an answer is the same piece at least, and how long that is at most, where it is cut for repeating itself.
_REPEATED_CHARS: Final = 400
_MAX_PIECE_CHARS: Final = 80
_CHECKED_CHARS: Final = 50
MAX_ASKS: Final = 3  # of a streamed answer whose engine dies under it


def repeats_itself(text: str) -> bool:
    """Whether the text ends with the same short piece over and over, as a small model writes that finds no end."""
    end = text[-_REPEATED_CHARS:]
    periods = range(1, _MAX_PIECE_CHARS + 1)
    return len(end) == _REPEATED_CHARS and any(end[period:] == end[:-period] for period in periods)


class BudgetedLLM:
    """An LLMAdapter with a grant: returns Outcomes, and never uses more than the grant holds.

    A call takes one `llm_calls` and, in tokens, the exact prompt and the longest answer; what the answer
    did not fill is given back. `max_tokens` shrinks to what the grant and the model's context have left,
    as long as USEFUL_TOKENS remain. A schema goes only to a model that can be constrained by one. A failed call
    counts in full: what the engine did is unknown.
    """

    def __init__(self, llm: LLMAdapter, grant: Grant) -> None:
        self._llm = llm
        self._grant = grant

    async def generate(self, request: LLMRequest) -> Outcome[LLMResponse | None]:
        """The answer; `is_cut` tells whether `max_tokens` ended it."""
        try:
            admitted = await self._admit(request)
            if admitted.value is None:
                return admitted.failed(None)
            fitting, taken = admitted.value
            response = await self._llm.generate(fitting)
        except AeondError as error:
            return failure(problem_of(error), None)
        self._settle(taken, response.usage, response.timing)
        return success(response)

    async def stream(
        self, request: LLMRequest, on_text: TextSink, is_endless: Callable[[str], bool] = repeats_itself
    ) -> Outcome[LLMResponse | None]:
        """The same, with the text shown as it comes; it is cut where it `is_endless`.

        If the engine dies, the request is repeated, at most twice; "" signals that the text starts over.
        """
        outcome = await self._stream_once(request, on_text, is_endless)
        for _ in range(MAX_ASKS - 1):
            if outcome.problem is None or outcome.problem.reason != LLMGoneError.reason:
                break
            on_text("")
            outcome = await self._stream_once(request, on_text, is_endless)
        return outcome

    async def text(self, request: LLMRequest, on_text: TextSink | None = None) -> str:
        """The text of the answer, streamed if it is to be shown; "" if the model fails or the answer was cut."""
        outcome = await (self.stream(request, on_text) if on_text else self.generate(request))
        return "" if outcome.value is None or is_cut(outcome.value) else outcome.value.text

    async def chunks(
        self, request: LLMRequest, is_endless: Callable[[str], bool] = repeats_itself
    ) -> AsyncIterator[LLMChunk]:
        """The same, once, in pieces as they come. An answer that `is_endless` is cut there. Raises AeondError, LLMError with the reason of
        the problem if the grant has too little left."""
        admitted = await self._admit(request)
        if admitted.value is None:
            raise LLMError(admitted.cause.message, reason=admitted.cause.reason)
        fitting, taken = admitted.value
        usage, timing = None, Timing()
        text, unchecked, pieces = "", 0, 0
        async with closing(self._llm.stream(fitting)) as stream:
            async for chunk in stream:
                usage, timing = chunk.usage or usage, chunk.timing
                text, pieces = text + chunk.text, pieces + chunk.pieces
                unchecked += len(chunk.text)
                yield chunk
                if unchecked >= _CHECKED_CHARS and usage is None:
                    unchecked = 0
                    if is_endless(text):
                        usage = TokenUsage(taken - fitting.max_tokens, min(pieces, fitting.max_tokens))
                        yield LLMChunk("", FinishReason.LENGTH, usage)
                        break
        if usage is not None:
            self._settle(taken, usage, timing)

    async def _stream_once(
        self, request: LLMRequest, on_text: TextSink, is_endless: Callable[[str], bool]
    ) -> Outcome[LLMResponse | None]:
        chunks: list[LLMChunk] = []
        try:
            async for chunk in self.chunks(request, is_endless):
                chunks.append(chunk)
                if chunk.text:
                    on_text(chunk.text)
        except AeondError as error:
            return failure(problem_of(error), None)
        if not chunks or chunks[-1].finish_reason is None or chunks[-1].usage is None:
            message = "the model's answer ended without saying why"
            return failure(Problem(LLMError.reason, message, retryable=True), None)
        return success(response_of(chunks, self._llm.model))

    async def _admit(self, request: LLMRequest) -> Outcome[tuple[LLMRequest, int] | None]:
        """The request as it fits, and the tokens taken for it."""
        prompt = await self._llm.count_tokens(request.messages, request.tools)
        context = self._llm.capabilities.context_length
        useful = min(USEFUL_TOKENS, request.max_tokens)
        if prompt + useful > context:
            message = f"the prompt has {prompt} tokens, too many for the model's context of {context}"
            return failure(Problem("CONTEXT_TOO_LONG", message), None)
        left = self._grant.left
        answer = min(request.max_tokens, context - prompt, left.tokens - prompt)
        if left.llm_calls < 1:
            return failure(Problem(BUDGET_SPENT, "no model calls are left"), None)
        if answer < useful or not self._grant.take(Amounts(llm_calls=1, tokens=prompt + answer)):
            message = f"the prompt needs {prompt} tokens and {left.tokens} are left"
            return failure(Problem(BUDGET_SPENT, message), None)
        schema = request.schema if self._llm.capabilities.schema else None
        return success((replace(request, max_tokens=answer, schema=schema), prompt + answer))

    def _settle(self, taken: int, usage: TokenUsage, timing: Timing) -> None:
        self._grant.note(model_use(usage, timing))
        used = max(0, usage.total_tokens)
        if used < taken:
            self._grant.give_back(Amounts(tokens=taken - used))
        elif used > taken:
            # An adapter that used more than it was allowed: counted as far as the grant reaches.
            self._grant.take(Amounts(tokens=min(used - taken, self._grant.left.tokens)))


def model_use(usage: TokenUsage, timing: Timing) -> ModelUse:
    """One call as a part of what an operation asked of models."""
    call = ModelCall(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        first_token_seconds=timing.first_token_seconds,
        engine_seconds=timing.engine_seconds,
        end_time=timing.end_time,
    )
    return ModelUse.of(call)


def is_cut(response: LLMResponse) -> bool:
    """Whether the answer was ended by its bound rather than by the model."""
    return response.finish_reason is FinishReason.LENGTH


def problem_of(error: AeondError) -> Problem:
    """An error of a capability as a problem."""
    retryable = isinstance(error, OverloadedError | UnavailableError | LLMGoneError) or (
        isinstance(error, CapabilityError) and error.retryable
    )
    return Problem(error.reason, error.message, retryable=retryable)
