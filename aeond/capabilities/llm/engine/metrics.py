"""What engines say of themselves: their Prometheus pages, read and put into our words."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import anyio

from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.domain.llm import EngineMetrics
from aeond.errors import AeondError

# An engine answers only between two pieces of its work; a caller that wants its metrics does not wait longer.
LOOK_SECONDS: Final = 0.5

LINE: Final = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{.*\})? (\S+)$")


async def seen_by(client: OpenAIClient, measured: EngineMetrics) -> EngineMetrics:
    """The client's measurements, completed by the server's metrics if they arrive within LOOK_SECONDS."""
    with anyio.move_on_after(LOOK_SECONDS):
        try:
            numbers = read_page((await client.get("/metrics")).decode(errors="replace"))
            if "llamacpp:requests_processing" in numbers:
                slots = json.loads(await client.get("/slots"))
                return of_llama_cpp(measured, numbers, slots)
            if "vllm:num_requests_running" in numbers:
                return of_vllm(measured, numbers)
        except (AeondError, ValueError):
            pass  # no metrics page, or the server is about to end: only the client's measurements are available
    return measured


def read_page(text: str) -> dict[str, float]:
    """Names to numbers; those of one name and several labels are added up."""
    numbers: dict[str, float] = {}
    for line in text.splitlines():
        found = LINE.match(line)
        if found:
            try:
                numbers[found[1]] = numbers.get(found[1], 0.0) + float(found[2])
            except ValueError:
                continue
    return numbers


def of_llama_cpp(measured: EngineMetrics, numbers: Mapping[str, float], slots: Any) -> EngineMetrics:
    """Prompts are given to it in pieces, so that its own count of cached tokens says nothing; that of tokens read
    does."""
    return replace(
        measured,
        running_requests=_whole(numbers, "llamacpp:requests_processing"),
        waiting_requests=_whole(numbers, "llamacpp:requests_deferred"),
        read_tokens=_whole(numbers, "llamacpp:prompt_tokens_total"),
        cache_fraction=_fullness(slots),
    )


def _fullness(slots: Any) -> float:
    try:
        room = sum(slot["n_ctx"] for slot in slots)
        held = sum(min(slot.get("n_prompt_tokens", 0), slot["n_ctx"]) for slot in slots)
        return float(held / room) if room else 0.0
    except (TypeError, KeyError, AttributeError):
        return 0.0


def of_vllm(measured: EngineMetrics, numbers: Mapping[str, float]) -> EngineMetrics:
    asked, found = (_whole(numbers, f"vllm:prefix_cache_{name}_total") for name in ("queries", "hits"))
    return replace(
        measured,
        running_requests=_whole(numbers, "vllm:num_requests_running"),
        waiting_requests=_whole(numbers, "vllm:num_requests_waiting"),
        read_tokens=max(0, asked - found),
        cache_fraction=min(1.0, numbers.get("vllm:kv_cache_usage_perc", 0.0)),
    )


def _whole(numbers: Mapping[str, float], name: str) -> int:
    return int(numbers.get(name, 0.0))
