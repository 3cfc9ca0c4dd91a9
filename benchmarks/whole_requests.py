"""Seconds per everyday request, beside what its own tokens take on the engine driven directly."""

import random
import statistics
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Final

from aeond_client import Client, NoAnswerError, RunOptions
from aeond_client.records.models import EngineMetrics
from benchmarks.bare_llama import bare_llama, default_model
from benchmarks.page import Section, verdict
from benchmarks.rates import default_daemon, direct_settings, wait_until_idle

MODEL: Final = """
[model]
yields_memory = false
"""
FILES: Final[Mapping[str, str]] = {
    "allotment.txt": "Beans need water on Tuesday. The shed key hangs behind the rain barrel.\n",
    "trip/packing.md": "# Packing\n\n- tent\n- stove\n- two sleeping bags\n- map of the lakes\n",
    "trip/costs.csv": "item,price\ntrain,84.50\nferry,31.00\ncampsite,66.00\n",
    "rota.txt": "Mon Priya\nTue Olek\nWed Priya\nThu Hanna\nFri Olek\n",
}
REQUESTS: Final = (
    "Good morning! What can you help me with?",
    "Which files are there in the trip folder?",
    "Where does the shed key hang? It is noted in allotment.txt.",
    "How much is 84.50 plus 31 plus 66?",
    "What is on my packing list?",
    "Remember that the ferry leaves at 7:40.",
    "When does my ferry leave?",
    "Write a file called todo.txt with the line: buy gas for the stove",
    "Who is on the rota on Thursday?",
    "Put into one sentence what allotment.txt says.",
    "How many days until the 24th of December?",
    "Explain in two sentences why the sea is salty.",
)
SIZES: Final = (1, 8, 32, 64, 128, 512, 1_024)
WRITTEN: Final = 96


@dataclass(frozen=True, slots=True)
class Curve:
    """What reading and writing take on the engine driven directly, in seconds."""

    reads: tuple[tuple[int, float], ...]  # tokens, seconds; by tokens
    word: float

    def floor(self, spent: "Spent") -> float:
        """The calls one after another, their new tokens evenly divided among them."""
        if not spent.calls:
            return 0.0
        return spent.calls * self._read(spent.read / spent.calls) + spent.written * self.word

    def _read(self, tokens: float) -> float:
        for (few, quick), (many, slow) in zip(self.reads, self.reads[1:], strict=False):
            if tokens <= many:
                return quick + (slow - quick) * max(tokens - few, 0) / (many - few)
        many, slow = self.reads[-1]
        return slow * tokens / many


@dataclass(frozen=True, slots=True)
class Spent:
    """What one request took: seconds, model calls, prompt tokens that were not cached, tokens written."""

    seconds: float
    calls: int
    read: int
    written: int


def measure(_folder: Path) -> Section:
    """The engine alone first, then the daemon alone: two engines would share the cores."""
    curve = _curve()
    with (
        tempfile.TemporaryDirectory(prefix="aeond-") as folder,
        default_daemon(MODEL) as socket,
        Client(str(socket)) as client,
    ):
        for name, text in FILES.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        spent = [_spent(client, request, folder) for request in REQUESTS]
    seconds, floors = [one.seconds for one in spent], [curve.floor(one) for one in spent]
    overhead = sum(seconds) / sum(floors)
    return Section(
        "Whole requests",
        f"{len(REQUESTS)} everyday requests, one after another, in the real daemon with the default model, once the usual "
        "beginnings are read ahead. The floor of a request is what its own model calls take on llama.cpp's server driven "
        "directly: their uncached prompt tokens and their written tokens, at rates measured right before. What is left is "
        "the daemon: tools, journal, events, constrained writing.",
        ("", "seconds", "floor", "overhead", "aim"),
        (
            ("p50", f"{_at(seconds, 0.5):.1f}", f"{_at(floors, 0.5):.1f}", "", ""),
            ("p95", f"{_at(seconds, 0.95):.1f}", f"{_at(floors, 0.95):.1f}", "", ""),
            (
                "all",
                f"{sum(seconds):.1f}",
                f"{sum(floors):.1f}",
                f"{overhead:.2f}",
                verdict(overhead, at_most=1.15),
            ),
            *_rows(spent, floors),
        ),
    )


def _rows(spent: list[Spent], floors: list[float]) -> list[tuple[str, ...]]:
    return [
        (
            f'"{request}": {one.calls} calls, {one.read} tokens read, {one.written} written',
            f"{one.seconds:.1f}",
            f"{floor:.1f}",
            f"{one.seconds / floor:.2f}" if floor else "",
            "",
        )
        for request, one, floor in zip(REQUESTS, spent, floors, strict=True)
    ]


def _at(values: list[float], share: float) -> float:
    """The value below which this share of them is."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def _spent(client: Client, request: str, workspace: str) -> Spent:
    wait_until_idle(client)
    before, began = _metrics(client), perf_counter()
    with suppress(NoAnswerError):  # a model as small as this one may ask a person, or fail
        client.run(request, RunOptions(workspace=workspace))
    seconds = perf_counter() - began
    after = _metrics(client)
    run = client.get_run(client.list_runs(limit=1)[0].run_id)
    prompts, cached = after.prompt_tokens - before.prompt_tokens, after.cached_tokens - before.cached_tokens
    return Spent(
        seconds, run.used.llm_calls, prompts - cached, after.completion_tokens - before.completion_tokens
    )


def _metrics(client: Client) -> EngineMetrics:
    metrics = client.get_status().engine.metrics
    assert metrics is not None
    return metrics


def _curve() -> Curve:
    dice = random.Random()
    with bare_llama(default_model(), **direct_settings()) as bare:
        usual = bare.prompt(dice, 256)
        words = [bare.ask(f"{usual} Tell a long story.", WRITTEN).written_rate for _ in range(3)]
        reads = []
        for size in SIZES:
            # Behind a prompt that the slot holds, as the calls of a request are.
            seconds = [bare.ask(f"{usual} {bare.prompt(dice, size)}", 2).first_seconds for _ in range(3)]
            reads.append((size, statistics.median(seconds)))
    return Curve(tuple(reads), 1 / statistics.median(words))
