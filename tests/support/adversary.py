"""A model that means ill: it lies, loops, recurses, stalls, floods and answers with rubbish, by a seed."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from aeond.domain.llm import (
    FinishReason,
    LLMCapabilities,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    TokenUsage,
    ToolSchema,
)
from aeond.domain.messages import Message
from aeond.domain.values import JsonObject
from aeond.errors import LLMError, LLMGoneError
from aeond.ports import Clock

RUBBISH = (
    "",
    "I would rather not.",
    "{",
    '{"steps": [',
    "[" * 2_000,
    "NaN",
    '{"everything": true}',
    '{"answer": 7}',
    '{"answer": "", "plan": true}',
    '{"steps": [{"tool": "no_such_tool", "arguments": {}}]}',
    '{"step_id": "s1", "tool": null}',
    "```json\n{}\n```",
    '{"a": 1, "a": 2}',
    '"\\ud800"',
    "null",
    "9" * 400,
)
STALL_SECONDS = 10_000.0
STOPPED = 0.8  # of the answers that may end at a stop text, how many say nothing before it


@dataclass
class Adversary:
    """An LLMAdapter whose every answer is chosen by chance, within what an engine lets a model do: at most
    `max_tokens`, counted honestly. `calls` and `tokens` are what it really cost.
    """

    seed: int
    clock: Clock
    calls: int = 0
    tokens: int = 0
    model: str = "adversary"
    capabilities: LLMCapabilities = field(
        default_factory=lambda: LLMCapabilities(schema=True, context_length=32_000)
    )

    def __post_init__(self) -> None:
        self._chance = Random(self.seed)
        # Each adversary has a character: its usual behaviour.
        names = ("obey", "rubbish", "flood", "stall", "fail", "repeat")
        self._weights = {name: self._chance.random() ** 3 for name in names}
        self._weights["stall"] /= 8
        self._weights["obey"] += self._chance.choice((0.0, 1.0, 20.0))  # the worst harm comes well formed
        self._eager = self._chance.random()  # how gladly it delegates and adds
        self._said: dict[str, str] = {}

    async def count_tokens(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        return sum(4 + tokens_in(str(message.content)) for message in messages)

    async def generate(self, request: LLMRequest) -> LLMResponse:
        text, reason = await self._answer(request)
        prompt = await self.count_tokens(request.messages)
        usage = TokenUsage(prompt, min(tokens_in(text), request.max_tokens))
        self.tokens += usage.total_tokens
        return LLMResponse(text, usage, self.model, reason)

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMChunk]:
        response = await self.generate(request)
        for start in range(0, len(response.text), 40):
            yield LLMChunk(response.text[start : start + 40])
        yield LLMChunk("", response.finish_reason, response.usage)

    async def _answer(self, request: LLMRequest) -> tuple[str, FinishReason]:
        self.calls += 1
        doing = self._chance.choices(tuple(self._weights), tuple(self._weights.values()))[0]
        kind = json.dumps(request.schema, sort_keys=True) if request.schema else ""
        if doing == "stall":
            await self.clock.sleep_until(self.clock.monotonic() + STALL_SECONDS)
        if doing in ("stall", "fail"):
            self.tokens += await self.count_tokens(request.messages)  # the prompt was read
            raise self._chance.choice((LLMGoneError("it died"), LLMError("it failed")))
        if doing == "flood":
            return "x " * request.max_tokens, FinishReason.LENGTH
        if doing == "rubbish":
            return self._fitting(self._chance.choice(RUBBISH), request)
        if doing == "repeat" and kind in self._said:
            return self._fitting(self._said[kind], request)
        text = json.dumps(self._made_up(request.schema, request.schema)) if request.schema else "Certainly."
        if request.stop and self._chance.random() < STOPPED:
            text = ""
        self._said[kind] = text
        return self._fitting(text, request)

    def _fitting(self, text: str, request: LLMRequest) -> tuple[str, FinishReason]:
        """The text that an engine allows: at most that many tokens."""
        if tokens_in(text) <= request.max_tokens:
            return text, FinishReason.STOP
        return text[: request.max_tokens * 4], FinishReason.LENGTH

    # ------------------------------------------------------------ lies: values that fit a schema

    def _made_up(self, schema: Any, root: JsonObject | None) -> Any:
        if not isinstance(schema, Mapping):
            return None
        if "$ref" in schema:
            node: Any = root
            for part in str(schema["$ref"]).removeprefix("#/").split("/"):
                node = node[part]
            return self._made_up(node, root)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self._made_up(self._preferred(schema[union]), root)
        return self._of_type(schema, root)

    def _preferred(self, options: Sequence[Any]) -> Any:
        delegating = [option for option in options if "delegate" in json.dumps(option)]
        if delegating and self._chance.random() < self._eager:
            return self._chance.choice(delegating)
        return self._chance.choice(options)

    def _of_type(self, schema: Mapping[str, Any], root: JsonObject | None) -> Any:
        makers: dict[str, Callable[[], Any]] = {
            "object": lambda: self._object(schema, root),
            "array": lambda: self._array(schema, root),
            "string": lambda: self._string(schema),
            "integer": lambda: self._number(schema),
            "number": lambda: self._number(schema),
            "boolean": lambda: self._chance.random() < 0.5,
            "null": lambda: None,
        }
        kind = schema.get("type", "string")
        return makers[self._chance.choice(kind) if isinstance(kind, list) else kind]()

    def _object(self, schema: Mapping[str, Any], root: JsonObject | None) -> Any:
        wanted = set(schema.get("required", ()))
        return {
            name: self._made_up(inner, root)
            for name, inner in schema.get("properties", {}).items()
            if name in wanted or self._chance.random() < self._eager
        }

    def _array(self, schema: Mapping[str, Any], root: JsonObject | None) -> Any:
        most = min(int(schema.get("maxItems", 4)), 12)
        least = int(schema.get("minItems", 0))
        many = (
            most
            if self._chance.random() < self._eager / 2
            else self._chance.randint(least, max(least, most // 2))
        )
        return [self._made_up(schema.get("items", {}), root) for _ in range(many)]

    def _string(self, schema: Mapping[str, Any]) -> str:
        words = ("$s1", "$s2.result", "s1", "s9", "do it again", "forever", "", "é\x00", "a" * 300)
        text = self._chance.choice(words)
        least = int(schema.get("minLength", 0))
        return text.ljust(least, "x")[: int(schema.get("maxLength", 1_000))]

    def _number(self, schema: Mapping[str, Any]) -> int:
        least, most = int(schema.get("minimum", -5)), int(schema.get("maximum", 2**63))
        return self._chance.choice((least, min(most, least + 1), min(most, 1_000_000), most))


def tokens_in(text: str) -> int:
    """A token is four characters of this model's."""
    return (len(text) + 3) // 4
