"""llama.cpp's settings for the default model: each is compared with the settings that aeond uses, in turns."""

import random
import statistics
import sys
from pathlib import Path
from typing import Any, Final

from aeond.daemon.compose.native_engine import usable
from aeond.daemon.config.paths import paths_of
from aeond.daemon.config.schema import Config
from benchmarks.bare_llama import BareLlama, Timed, bare_llama, default_model
from benchmarks.page import Section

# What the engine's host sets; `aeond/capabilities/llm/llama/host.py`.
OURS: Final[dict[str, Any]] = {"n_batch": 512, "n_ubatch": 512, "poll": 0, "n_parallel": 4}
# And besides for a build for this processor.
NATIVE: Final[dict[str, Any]] = {"flash_attention": "DISABLED"}
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
    ("flash attention", {"flash_attention": "ENABLED"}),
    ("cache in 8 bits", {"flash_attention": "ENABLED", "key_cache": "Q8_0", "value_cache": "Q8_0"}),
    ("weights as in the file", {"no_extra_bufts": True}),
)
SIZES: Final = (700, 1_700)
WRITTEN: Final = 64
# Most prompts of a run add some words to a long beginning that is read already.
READ: Final = 3_000
ADDED: Final = 40
TIMES_ADDED: Final = 5
ROUNDS: Final = 1  # of both sizes, for each row a minute


def measure(_folder: Path) -> Section:
    """Two servers in memory, asked in turns: one as aeond sets it, and one that differs in one setting."""
    model, dice = default_model(), random.Random()
    library = native_build()
    base = {**OURS, **({"library": str(library), **NATIVE} if library else {})}
    rows = []
    with bare_llama(model, **base) as ours:
        ours.ask("Begin.", 4)
        text = ours.prompt(dice, READ)
        for name, settings in TRIED:
            rows.append(_row(name, {**base, **settings}, ours, model, dice, text))
            print("  " + "   ".join(rows[-1]), file=sys.stderr, flush=True)
        if library:
            rows.append(_row("as the wheel is built", OURS, ours, model, dice, text))
    return Section(
        "Settings of the engine",
        "The default model on llama.cpp's own server, driven directly: each row is a server that differs from aeond's "
        "settings in what the row names, asked in turns with one that has aeond's. Ratios to that one are of a pair of "
        f"unseen prompts of each size, with {WRITTEN} tokens written after each; then {ADDED} tokens are added to a prompt of "
        f"{READ} that is read already, {TIMES_ADDED} times. All are "
        f"{'built for this processor, but for the last row' if library else 'as the wheel is built'}. The first row shows how much two equal "
        "servers differ. Tokens a second depend on what else the machine does. Memory is the largest resident size, the model's file included.",
        ("settings", *(f"reads {size}" for size in SIZES), f"adds {ADDED}", "writes", "memory", "loads in"),
        tuple(rows),
    )


def native_build() -> Path | None:
    """The build of llama.cpp for this processor, where `aeond engine-setup --native` made one."""
    folder = paths_of(Config(), Path()).native_build
    return folder if usable(folder) else None


def _row(
    name: str, settings: dict[str, Any], ours: BareLlama, model: Path, dice: random.Random, text: str
) -> tuple[str, ...]:
    with bare_llama(model, **settings) as bare:
        bare.ask("Begin.", 4)
        read: dict[int, list[tuple[float, float]]] = {size: [] for size in SIZES}
        written: list[tuple[float, float]] = []
        for number in range(ROUNDS):
            for turn, size in enumerate(SIZES, number):
                pair = [_timed(one, dice, size) for one in (bare, ours)[:: 1 if turn % 2 else -1]]
                its, our = pair if turn % 2 else pair[::-1]
                read[size].append((its.read_rate, our.read_rate))
                written.append((its.written_rate, our.written_rate))
        its_added, our_added = (_added_rates(one, dice, text) for one in (bare, ours))
        return (
            name,
            *(_compared(rates) for rates in read.values()),
            _compared([*zip(its_added, our_added, strict=True)]),
            _compared(written),
            f"{bare.peak_memory / 2**30:.2f} GiB",
            f"{bare.load_seconds:.1f} s",
        )


def _added_rates(server: BareLlama, dice: random.Random, text: str) -> list[float]:
    """Tokens a second of some that are added to a text which the server has read."""
    read = server.ask(text, 1).prompt_tokens
    added = (server.ask(f"{text} {server.prompt(dice, ADDED)}", 1) for _ in range(TIMES_ADDED))
    return [(one.prompt_tokens - read) / one.first_seconds for one in added]


def _timed(server: BareLlama, dice: random.Random, size: int) -> Timed:
    return server.ask(f"Tell a story with: {server.prompt(dice, size)}", WRITTEN)


def _compared(rates: list[tuple[float, float]]) -> str:
    """The median rate, and the median ratio to the server with aeond's settings."""
    ratio = statistics.median(its / our for its, our in rates)
    return f"{statistics.median(its for its, _ in rates):.1f} ({ratio:.2f})"
