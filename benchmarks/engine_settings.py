"""llama.cpp's settings for the default model: each is tried alone against the settings that aeond uses."""

import random
import statistics
from pathlib import Path
from typing import Any, Final

from benchmarks.bare_llama import bare_llama, default_model
from benchmarks.page import Section

# What the engine's host sets; `aeond/capabilities/llm/llama/host.py`.
OURS: Final[dict[str, Any]] = {"n_batch": 512, "n_ubatch": 512, "poll": 0, "n_parallel": 4}
TRIED: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("as aeond sets them", {}),
    ("batch 16", {"n_batch": 16, "n_ubatch": 16}),
    ("batch 32", {"n_batch": 32, "n_ubatch": 32}),
    ("batch 64", {"n_batch": 64, "n_ubatch": 64}),
    ("batch 128", {"n_batch": 128, "n_ubatch": 128}),
    ("batch 2048 of 512", {"n_batch": 2048}),
    ("one thread", {"threads": 1}),
    ("spinning between tokens (poll 50)", {"poll": 50}),
    ("one slot", {"n_parallel": 1}),
    ("one cache for all slots", {"kv_unified": True}),
    ("flash attention off", {"flash_attention": "DISABLED"}),
    ("cache in 8 bits", {"flash_attention": "ENABLED", "key_cache": "Q8_0", "value_cache": "Q8_0"}),
    ("weights as in the file", {"no_extra_bufts": True}),
    ("as aeond sets them, again", {}),
)
SIZES: Final = (700, 1_700)
WRITTEN: Final = 64
ROUNDS: Final = 2


def measure(_folder: Path) -> Section:
    """One server after another: two at once would share the cores."""
    model, dice = default_model(), random.Random()
    rows = [_row(name, {**OURS, **settings}, model, dice) for name, settings in TRIED]
    return Section(
        "Settings of the engine",
        "The default model on llama.cpp's own server, driven directly, each row a server of its own that differs from "
        f"aeond's settings in what the row names. Tokens a second, the best of {ROUNDS} unseen prompts of each size, "
        f"{WRITTEN} tokens written after each; memory is the largest resident size, the model's file included.",
        ("settings", *(f"reads {size}" for size in SIZES), "writes", "memory", "loads in"),
        tuple(rows),
    )


def _row(name: str, settings: dict[str, Any], model: Path, dice: random.Random) -> tuple[str, ...]:
    with bare_llama(model, **settings) as bare:
        bare.ask("Begin.", 4)
        read: dict[int, list[float]] = {size: [] for size in SIZES}
        written: list[float] = []
        for _ in range(ROUNDS):
            for size in SIZES:
                timed = bare.ask(f"Tell a story with: {bare.prompt(dice, size)}", WRITTEN)
                read[size].append(timed.read_rate)
                written.append(timed.written_rate)
        return (
            name,
            *(f"{max(rates):.1f}" for rates in read.values()),
            f"{statistics.median(written):.1f}",
            f"{bare.peak_memory / 2**30:.2f} GiB",
            f"{bare.load_seconds:.1f} s",
        )
