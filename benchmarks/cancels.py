"""The time until an engine is free after a cancel, while it reads a prompt and while it generates."""

import statistics
from pathlib import Path
from typing import Final

from benchmarks.page import Section, milliseconds, verdict
from benchmarks.real_engines import NAMES, is_installed, measured, not_installed

DEFAULT: Final = "qwen2.5-coder-1.5b-instruct"
SMALL: Final = "smollm2-135m-instruct"
# Engine, model, seconds into the reading of its prompt (0: while it generates), and the limit in seconds.
CASES: Final = (
    ("llama_cpp", DEFAULT, 2.0, 2.0),
    ("vllm", SMALL, 0.2, 1.0),
    ("vllm", SMALL, 0.0, 0.1),
)
COUNT: Final = 20


def measure(_folder: Path) -> Section:
    """A separate process for each case; the machine must be otherwise idle."""
    return Section(
        "Cancelling",
        f"{COUNT} requests each: prompts of 600 words that the model has never seen, cancelled in the"
        " middle of reading (the default model, 1.5B, on llama.cpp; SmolLM2-135M on vLLM), and answers"
        " cancelled after a dozen words. Measured is the time until the engine is idle, by its own"
        " metrics page. vLLM's page does not count a prompt being read; there it is the additional"
        " latency of the next request. An engine completes the batch that it has started: for"
        " comparison, the mean time of a word.",
        ("what", "median", "longest", "in time", "a word", "aim"),
        tuple(_row(*case) if is_installed(case[0]) else not_installed(case[0], 6) for case in CASES),
    )


def _row(engine: str, model: str, seconds: float, aim: float) -> tuple[str, ...]:
    seen = measured("cancelling", engine, model, seconds, COUNT)
    freed = [float(one["seconds"]) for one in seen]
    soon = sum(one <= aim for one in freed)
    return (
        f"{NAMES[engine]}, while it {'reads' if seconds else 'generates'}",
        milliseconds(statistics.median(freed)),
        milliseconds(max(freed)),
        f"{soon} of {len(freed)}",
        "" if seconds else milliseconds(statistics.median(one["word_seconds"] for one in seen)),
        verdict(max(freed) * 1e3, at_most=aim * 1e3, unit=" ms"),
    )
