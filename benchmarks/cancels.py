"""How soon an engine is free after a cancel, while it reads a prompt and while it writes."""

import statistics
from pathlib import Path
from typing import Final

from benchmarks.page import Section, milliseconds, verdict
from benchmarks.real_engines import NAMES, is_installed, not_installed, told

DEFAULT: Final = "qwen2.5-coder-1.5b-instruct"
SMALL: Final = "smollm2-135m-instruct"
# Engine, model, seconds into the reading of its prompt; 0: while it writes.
CASES: Final = (("llama_cpp", DEFAULT, 2.0), ("vllm", SMALL, 0.2), ("vllm", SMALL, 0.0))
COUNT: Final = 20
AIM_SECONDS: Final = 0.1


def measure(_folder: Path) -> Section:
    """A process of its own for each case; the machine must have nothing else to do."""
    return Section(
        "Cancelling",
        f"{COUNT} requests each: prompts of 600 words that the model has never seen, cancelled in the middle of their "
        "reading (the default model, 1.5B, on llama.cpp; SmolLM2-135M on vLLM), and answers cancelled after a dozen words; "
        "then how long until the engine works for nobody, by its own metrics page. vLLM's does not tell of a prompt that it "
        "reads: there it is how much longer than usual whoever asks next waits for a word. What an engine has begun to "
        "compute it finishes: beside it the usual time from one word to the next.",
        ("what", "median", "longest", f"within {milliseconds(AIM_SECONDS)}", "a word", "aim"),
        tuple(_row(*case) if is_installed(case[0]) else not_installed(case[0], 6) for case in CASES),
    )


def _row(engine: str, model: str, seconds: float) -> tuple[str, ...]:
    seen = told("cancelling", engine, model, seconds, COUNT)
    freed = [float(one["seconds"]) for one in seen]
    soon = sum(one <= AIM_SECONDS for one in freed)
    return (
        f"{NAMES[engine]}, while it {'reads' if seconds else 'writes'}",
        milliseconds(statistics.median(freed)),
        milliseconds(max(freed)),
        f"{soon} of {len(freed)}",
        "" if seconds else milliseconds(statistics.median(one["word_seconds"] for one in seen)),
        verdict(max(freed) * 1e3, at_most=AIM_SECONDS * 1e3, unit=" ms"),
    )
