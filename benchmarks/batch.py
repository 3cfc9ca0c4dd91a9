"""The gain from running ready steps together: six steps of a real model, one after another and
concurrently."""

from pathlib import Path
from typing import Final

from benchmarks.page import Section, verdict
from benchmarks.real_engines import NAMES, is_installed, measured, not_installed

STEPS: Final = 6
TOKENS: Final = 64
ROUNDS: Final = 3
AIMS: Final = {"llama_cpp": 1.0, "vllm": 4.0}


def measure(_folder: Path) -> Section:
    """A separate process for each engine loads the model once and alternates between both ways."""
    rows: list[tuple[str, ...]] = []
    for engine in NAMES:
        rows += _rows(engine) if is_installed(engine) else [not_installed(engine, 5)]
    return Section(
        "Steps of a model",
        f"One run of {STEPS} independent steps, each an answer of {TOKENS} tokens from SmolLM2-135M: one"
        f" at a time, and all ready ones concurrently, {ROUNDS} times in alternation on one engine. The"
        " gain is the median over the rounds. With llama.cpp, two cores compute little more concurrently"
        " than sequentially; vLLM batches by design.",
        ("how", "seconds", "tokens a second", "gain", "aim"),
        tuple(rows),
    )


def _rows(engine: str) -> list[tuple[str, ...]]:
    figures, name, tokens = (
        measured("batch_steps", engine, STEPS, TOKENS, ROUNDS),
        NAMES[engine],
        STEPS * TOKENS,
    )
    apart, together, ratio = figures["apart"], figures["together"], figures["ratio"]
    return [
        (f"{name}: one after another", f"{apart:.2f}", f"{tokens / apart:.0f}", "1.0", ""),
        (
            f"{name}: together",
            f"{together:.2f}",
            f"{tokens / together:.0f}",
            f"{ratio:.1f}",
            verdict(ratio, at_least=AIMS[engine]),
        ),
    ]
