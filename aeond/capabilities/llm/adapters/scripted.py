"""A model that answers from a script: for tests and benchmarks, and selectable in the daemon.

A script is a list of rules. The first rule that fits the prompt and is not used up answers; a rule may also
fail, break off, or wait until it is released. Counting, cutting and cancelling behave as with a real model,
and nothing takes longer than it must.
"""

import json
import re
import tomllib
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from aeond.capabilities.llm.adapters.requests import (
    chat_messages,
    check_length,
    check_messages,
    check_request,
    tools_length,
    within,
    without_tool_calls,
)
from aeond.domain.llm import (
    FinishReason,
    LikelyToken,
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    TokenUsage,
    ToolSchema,
    response_of,
)
from aeond.domain.messages import Message, ModelToolCall
from aeond.domain.values import canonical_json
from aeond.errors import InvalidInputError, LLMError, LLMGoneError

ATTEMPTS = 3
KEPT_REQUESTS = 10_000
TOKENS_PER_MESSAGE = 3  # what a chat template adds
BYTES_PER_TOKEN = 4  # of tools
TOKEN = re.compile(r"\s*(?:\w{1,6}|[^\w\s])|\s+")


class Rule(BaseModel):
    r"""When it answers, and what.

    It fits when the prompt (all messages, a line each) contains `contains` and matches `pattern`; without
    either it fits always. It answers `text`, or `json_value` as compact JSON; with `expand`, groups of the
    pattern can be named in the text as \1. `calls` are objects of one tool's name and its arguments: a request
    with tools is answered with them, after `text`. `likely` has the logarithms of probabilities of first tokens. `times` is how often it answers before it is used up (0: for
    ever).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field("", description="Answers only for this model. Empty: for all.")
    contains: str = ""
    pattern: str = ""
    times: int = Field(0, ge=0)
    text: str = ""
    json_value: Any = Field(None, alias="json")
    calls: tuple[dict[str, Any], ...] = ()
    expand: bool = False
    likely: dict[str, float] = Field(default_factory=dict)
    fail: str = Field("", description="Reason of the LLMError that it ends with.")
    retryable: bool = Field(False, description="Whether the failure is one that is tried again.")
    gone: bool = Field(False, description="The engine dies: LLMGoneError.")
    fail_after: int = Field(0, ge=0, description="Pieces of text given before the failure.")
    stall: bool = Field(False, description="Waits for release() before the first piece.")

    @model_validator(mode="after")
    def _pattern_compiles(self) -> "Rule":
        re.compile(self.pattern)
        return self

    def answer(self, prompt: str, *, native: bool = False) -> str | None:
        """The text, or None when the rule does not fit this prompt."""
        match = re.search(self.pattern, prompt)
        if match is None or self.contains not in prompt:
            return None
        instead = self.json_value is None or (native and self.calls)
        text = self.text if instead else canonical_json(self.json_value)
        return match.expand(text) if self.expand else text

    def native_calls(self) -> tuple[ModelToolCall, ...]:
        """Arguments that are a text stand as they are: a model may write what is no JSON."""
        written = [next(iter(call.items())) for call in self.calls]
        return tuple(
            ModelToolCall(
                name, given if isinstance(given, str) else canonical_json(given), f"call{index:05d}"
            )
            for index, (name, given) in enumerate(written)
        )


class Script(BaseModel):
    """A whole script; `piece_chars` is how much text a streamed piece has.

    `models` are further models of its engine, one of which is resident at a time; to load one takes `load_seconds`.
    With `sleeps` the engine can sleep; otherwise it is unloaded. With `tool_calls` it calls tools natively.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "scripted"
    models: tuple[str, ...] = ()
    load_seconds: float = Field(0.0, ge=0)
    sleeps: bool = False
    tool_calls: bool = False
    context_length: int = Field(8192, ge=1)
    piece_chars: int = Field(8, ge=1)
    rules: tuple[Rule, ...] = ()


def read_script(path: Path) -> Script:
    """A script from a TOML file, or JSON if its name ends so.

    Raises InvalidInputError (reason SCRIPT_INVALID) that names the key at fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return Script.model_validate(json.loads(text) if path.suffix == ".json" else tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise invalid_script(path, f"{where}: {first['msg']}") from error
    except (OSError, ValueError, re.error) as error:
        raise invalid_script(path, str(error)) from error


def invalid_script(path: Path, why: str) -> InvalidInputError:
    return InvalidInputError(
        f"The script {path} cannot be used: {why}.", reason="SCRIPT_INVALID", field="script"
    )


class ScriptedLLM:
    """The LLMAdapter port over a script.

    `requests` keeps the last 10,000 requests; `in_flight` tells how many are being answered right now. `resident`
    is the model that answers; asked while there is none (""), it fails: a real engine would not answer for ever.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.resident = script.model
        self._used: Counter[int] = Counter()
        self._released = anyio.Event()
        self.requests: deque[LLMRequest] = deque(maxlen=KEPT_REQUESTS)
        self.in_flight = 0

    @property
    def model(self) -> str:
        return self.resident or self.script.model

    @property
    def capabilities(self) -> LLMCapabilities:
        script = self.script
        return LLMCapabilities(
            schema=True,
            context_length=script.context_length,
            tool_calls=script.tool_calls,
            likely=any(rule.likely for rule in script.rules),
        )

    async def generate(self, request: LLMRequest) -> LLMResponse:
        return response_of([chunk async for chunk in self.stream(request)], self.model)

    def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        check_request(request)
        return within(request.deadline_seconds, self._stream(request))

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        check_messages(messages)
        self._check_up()
        return tools_length(tools) // BYTES_PER_TOKEN + sum(
            TOKENS_PER_MESSAGE + len(tokens_of(message["content"])) for message in chat_messages(messages)
        )

    def release(self) -> None:
        """Lets every answer that stalls now, or will, go on."""
        self._released.set()

    async def _stream(self, request: LLMRequest) -> AsyncGenerator[LLMChunk, None]:
        self._check_up()
        resident = self.resident
        self.requests.append(request)
        self.in_flight += 1
        try:
            prompt_tokens = await self.count_tokens(request.messages, request.tools)
            if request.tools and not self.script.tool_calls:
                raise without_tool_calls()
            check_length(prompt_tokens, request.max_tokens, self.script.context_length)
            for attempt in range(1, ATTEMPTS + 1):
                rule, answer = self._choose(request)
                await anyio.lowlevel.checkpoint()
                if rule.stall:
                    await self._released.wait()
                if rule.fail or rule.gone:
                    for piece in self._pieces(answer)[: rule.fail_after]:
                        yield LLMChunk(piece)
                    error = failure(rule)
                    if error.retryable and not rule.fail_after and attempt < ATTEMPTS:
                        continue
                    raise error
                calls = rule.native_calls() if request.tools else ()
                text, completion_tokens, reason = cut(answer, request)
                completion_tokens += sum(len(tokens_of(call.arguments)) for call in calls)
                for piece in self._pieces(text):
                    if self.resident != resident:
                        raise LLMGoneError("The engine went away during the call.", retryable=True)
                    yield LLMChunk(piece)
                    await anyio.lowlevel.checkpoint()
                usage = TokenUsage(prompt_tokens, min(completion_tokens, request.max_tokens))
                likely = tuple(LikelyToken(*one) for one in rule.likely.items())[: request.likely]
                yield LLMChunk("", reason, usage, tool_calls=calls, likely=likely)
                return
        finally:
            self.in_flight -= 1

    def _check_up(self) -> None:
        if not self.resident:
            raise LLMError("The engine was asked while it was not there to answer.", reason="NOT_RESIDENT")

    def _choose(self, request: LLMRequest) -> tuple[Rule, str]:
        prompt = "\n".join(message["content"] for message in chat_messages(request.messages))
        for index, rule in enumerate(self.script.rules):
            if rule.model not in ("", self.resident) or (rule.times and self._used[index] >= rule.times):
                continue
            answer = rule.answer(prompt, native=bool(request.tools))
            if answer is not None:
                self._used[index] += 1
                return rule, answer
        raise LLMError("No rule of the script fits this prompt.", reason="SCRIPT_SILENT")

    def _pieces(self, text: str) -> list[str]:
        size = self.script.piece_chars
        return [text[start : start + size] for start in range(0, len(text), size)]


def tokens_of(text: str) -> list[str]:
    """The text in tokens that join to it again: words of up to six letters with the space before them."""
    return TOKEN.findall(text)


def cut(answer: str, request: LLMRequest) -> tuple[str, int, FinishReason]:
    """What a request gets of an answer, what it costs in tokens, and why it ends there."""
    found = [position for stop in request.stop if (position := answer.find(stop)) >= 0]
    text = answer[: min(found)] if found else answer
    tokens = tokens_of(text)
    if len(tokens) > request.max_tokens:
        return "".join(tokens[: request.max_tokens]), request.max_tokens, FinishReason.LENGTH
    return text, max(len(tokens), 1), FinishReason.STOP


def failure(rule: Rule) -> LLMError:
    if rule.gone:
        return LLMGoneError("The script says that the engine died.", retryable=True)
    return LLMError("The script says that the call failed.", reason=rule.fail, retryable=rule.retryable)
