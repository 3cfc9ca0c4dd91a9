"""Our path to an engine against its server used directly, with the same prompts in alternation: prints JSON.

usage: python -m benchmarks.contenders.engine_path FOLDER ENGINE ROUNDS TOKENS
"""

import json
import statistics
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
import httpx

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.tools import Effect, ToolSpec
from aeond.domain.values import JsonObject
from aeond.orchestration.planning.plan_schema import compile_plan_schema
from aeond.ports import LLMAdapter
from benchmarks.contenders.opening import opened

AT_ONCE = (1, 8, 16)
FIRSTS = 40
# The listener of a story: prompts have equal lengths, and no prompt finds another one's prefix in the cache.
READERS = {"ours": "Ann", "direct": "Bob", "off": "Tom", "on": "Tim"}
RULES = "You tell stories of the sea, plainly and at length, and never stop before you are told to. " * 8
PATIENCE_SECONDS = 1_500.0
TOOLS = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """The time to its first word, and its number of tokens."""

    first_seconds: float
    tokens: int


Ask = Callable[[str, int], Awaitable[Answer]]


def ours(llm: LLMAdapter, schema: Mapping[str, Any] | None = None) -> Ask:
    """Through the adapter."""

    async def ask(text: str, tokens: int) -> Answer:
        began, first, count = perf_counter(), 0.0, 0
        messages = (Message(Role.SYSTEM, RULES), Message(Role.USER, text))
        async for chunk in llm.stream(LLMRequest(messages, max_tokens=tokens, schema=schema)):
            first = first or (perf_counter() - began if chunk.text else 0.0)
            count = chunk.usage.completion_tokens if chunk.usage else count
        return Answer(first, count)

    return ask


def directly(client: httpx.AsyncClient, model: str) -> Ask:
    """Through a plain HTTP client."""

    async def ask(text: str, tokens: int) -> Answer:
        began, first, count = perf_counter(), 0.0, 0
        body = {
            "model": model,
            "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": text}],
            "max_tokens": tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                event = json.loads(line.removeprefix("data: "))
                text = event["choices"][0]["delta"].get("content") if event["choices"] else ""
                first = first or (perf_counter() - began if text else 0.0)
                count = event["usage"]["completion_tokens"] if event.get("usage") else count
        return Answer(first, count)

    return ask


async def rate(ask: Ask, reader: str, at_once: int, tokens: int, number: int) -> float:
    """Tokens per second of that many concurrent requests."""
    answers: list[Answer] = []

    async def one(page: int) -> None:
        answers.append(await ask(f"Tell {reader} page {page} of book {number}.", tokens))

    began = perf_counter()
    async with anyio.create_task_group() as tasks:
        for page in range(at_once):
            tasks.start_soon(one, page)
    return sum(answer.tokens for answer in answers) / (perf_counter() - began)


async def first_words(ways: Mapping[str, Ask], count: int, number: int) -> dict[str, list[float]]:
    """Times to the first word for requests of each way, sequentially. The ways alternate, and so does the one
    that starts."""
    firsts: dict[str, list[float]] = {name: [] for name in ways}
    for page in range(count):
        for name, ask in list(ways.items())[:: 1 if page % 2 else -1]:
            answer = await ask(f"Tell {READERS[name]} page {page} of volume {number}.", 2)
            firsts[name].append(answer.first_seconds)
    return firsts


def plan_schema() -> Mapping[str, Any]:
    """The schema of a plan with that many tools."""
    text: JsonObject = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    specs = [ToolSpec(f"tool_{number}", "Does it.", text, {}, Effect.PURE) for number in range(TOOLS)]
    return compile_plan_schema(specs)


async def measured(llm: LLMAdapter, socket: Path, rounds: int, tokens: int) -> dict[str, Any]:
    # A connection for each request, like ours: llama.cpp's server closes one after a hundred requests.
    each = httpx.Limits(max_keepalive_connections=0)
    transport = httpx.AsyncHTTPTransport(uds=str(socket), limits=each)
    async with httpx.AsyncClient(transport=transport, base_url="http://engine", timeout=None) as client:
        ways = {"ours": ours(llm), "direct": directly(client, llm.model)}
        for ask in ways.values():
            await ask("Begin.", 2)
        firsts: dict[str, list[float]] = {name: [] for name in ways}
        rates: dict[str, dict[int, list[float]]] = {name: {n: [] for n in AT_ONCE} for name in ways}
        plans: dict[str, list[float]] = {"off": [], "on": []}
        constrained = ours(llm, plan_schema())
        for number in range(rounds):
            for name, seconds in (await first_words(ways, FIRSTS, number)).items():
                firsts[name] += seconds
            for at_once in AT_ONCE:
                for name, ask in list(ways.items())[:: 1 if number % 2 else -1]:
                    rates[name][at_once].append(await rate(ask, READERS[name], at_once, tokens, number))
            for name, ask in (("off", ways["ours"]), ("on", constrained)):
                plans[name].append(await rate(ask, READERS[name], AT_ONCE[1], tokens, number))
    return {
        "first": {name: statistics.median(seconds) for name, seconds in firsts.items()},
        "added": statistics.median(m - t for m, t in zip(firsts["ours"], firsts["direct"], strict=True)),
        "rates": {name: [statistics.median(found[n]) for n in AT_ONCE] for name, found in rates.items()},
        "ratios": [_ratio(rates["ours"][n], rates["direct"][n]) for n in AT_ONCE],
        "plans": {name: statistics.median(found) for name, found in plans.items()},
        "plan_ratio": _ratio(plans["on"], plans["off"]),
    }


def _ratio(mine: Sequence[float], theirs: Sequence[float]) -> float:
    """The median over the rounds, so that a disturbance affects both."""
    return statistics.median(m / t for m, t in zip(mine, theirs, strict=True))


async def main(folder: Path, engine: str, *numbers: int) -> None:
    rounds, tokens = numbers
    with anyio.fail_after(PATIENCE_SECONDS):
        async with opened(folder, engine, at_once=max(AT_ONCE)) as ready:
            figures = await measured(ready.llm, ready.socket, rounds, tokens)
    print(json.dumps(figures))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
