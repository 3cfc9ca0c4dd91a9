"""How fast the default model reads and writes through the daemon, beside the engine driven directly."""

import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from aeond_client import Client
from benchmarks.bare_llama import BareLlama, Timed, bare_llama, default_model
from benchmarks.daemon import running_daemon
from benchmarks.engine_settings import NATIVE, native_build
from benchmarks.page import Section, verdict

# What docs/performance.md shows to be the best for this model: large batches, all cores.
BEST: Final = {"n_batch": 512, "n_ubatch": 512}
BATCH_SECONDS: Final = 1.5  # the default
MODEL: Final = f"""
[model]
busy_seconds = {BATCH_SECONDS}
read_ahead = false
yields_memory = false
"""
SIZES: Final = (700, 1_700)
SHORT: Final = 40
WRITTEN: Final = 96
ROUNDS: Final = 3
BEGUN_SECONDS: Final = 2.0  # into the reading of a long prompt comes another request
READY_SECONDS: Final = 600
CALM_LOOKS: Final = 3

Ask = Callable[[str, int], Timed]


@contextmanager
def default_daemon(model: str = MODEL) -> Iterator[Path]:
    """The real daemon with the default model, ready; gives its socket."""
    with (
        tempfile.TemporaryDirectory(prefix="aeond-") as folder,  # a short path: sockets are in it
        running_daemon(Path(folder), model=model) as daemon,
    ):
        with Client(str(daemon.socket)) as client:
            wait_until_idle(client)
        yield daemon.socket


def direct_settings() -> dict[str, Any]:
    """The settings of a server that is driven directly: the build for this processor where there is one, as the daemon uses it."""
    build = native_build()
    return {**BEST, "library": str(build), **NATIVE} if build else {**BEST}


def wait_until_idle(client: Client) -> None:
    """Returns once the engine is ready and has read nothing ahead for some looks."""
    calm = 0
    for _ in range(READY_SECONDS):
        engine = client.get_status().engine
        calm = calm + 1 if engine.state == "ready" and not engine.activity else 0
        if calm == CALM_LOOKS:
            return
        time.sleep(1)
    message = f"the engine was not ready within {READY_SECONDS} seconds"
    raise RuntimeError(message)


def through(socket: Path) -> Ask:
    """Asks by the daemon's API."""

    def ask(text: str, max_tokens: int) -> Timed:
        began, first, last, counted = perf_counter(), 0.0, 0.0, None
        with Client(str(socket)) as client:
            for piece in client.generate(text, max_tokens=max_tokens):
                if piece.text:
                    last = perf_counter() - began
                    first = first or last
                counted = piece
        assert counted is not None
        return Timed(counted.prompt_tokens, counted.completion_tokens, first, last)

    return ask


def measure(_folder: Path) -> Section:
    """Both engines at once in memory, asked in turns."""
    dice = random.Random()
    rows: list[tuple[str, ...]] = []
    settings = direct_settings()
    built = "built for this processor" if "library" in settings else "as in the wheel"
    with bare_llama(default_model(), **settings) as bare, default_daemon() as socket:
        ways = {"daemon": through(socket), "direct": bare.ask}
        for ask in ways.values():
            ask("Begin.", 4)
        written: dict[str, list[float]] = {name: [] for name in ways}
        for size in SIZES:
            read: dict[str, list[float]] = {name: [] for name in ways}
            for number in range(ROUNDS):
                for name, ask in list(ways.items())[:: 1 if number % 2 else -1]:
                    timed = ask(_story(bare, dice, size), WRITTEN)
                    read[name].append(timed.read_rate)
                    written[name].append(timed.written_rate)
            rows.append(_row(f"reads {size} unseen tokens", read, 0.95))
        rows.append(_row("writes", written, 0.97))
        rows += _waits(bare, dice, ways["daemon"])
    return Section(
        "Reading and writing",
        "The default model, tokens a second: through the daemon's API and from llama.cpp's own server with its best "
        f"settings, both {built}, in turns, {ROUNDS} rounds of prompts that neither has seen. Reading is everything up to the first "
        f"word, writing the {WRITTEN} tokens after it; ratios are medians over pairs that stood beside each other. Then a "
        f"request of {SHORT} unseen tokens that comes {BEGUN_SECONDS:.0f} s into the reading of {SIZES[-1]}: how much later "
        f"it has its first word than alone; a batch is what the daemon reads in {BATCH_SECONDS} s, or {BEST['n_batch']} tokens if these "
        "take less.",
        ("what", "by aeond", "directly", "ratio", "aim"),
        tuple(rows),
    )


def _story(bare: BareLlama, dice: random.Random, tokens: int) -> str:
    return f"Tell a long story with these words: {bare.prompt(dice, tokens)}"


def _row(what: str, rates: dict[str, list[float]], aim: float) -> tuple[str, ...]:
    mine, theirs = rates["daemon"], rates["direct"]
    ratio = statistics.median(one / other for one, other in zip(mine, theirs, strict=True))
    return (
        what,
        f"{statistics.median(mine):.1f}",
        f"{statistics.median(theirs):.1f}",
        f"{ratio:.2f}",
        verdict(ratio, at_least=aim),
    )


def _waits(bare: BareLlama, dice: random.Random, ask: Ask) -> list[tuple[str, ...]]:
    """A short request alone, and while a long prompt is read."""
    alone, beside, largest = [], [], []
    for _ in range(ROUNDS):
        alone.append(ask(_story(bare, dice, SHORT), 2).first_seconds)
        long = _story(bare, dice, SIZES[-1])
        seen: list[Timed] = []
        reading = threading.Thread(target=lambda text=long, seen=seen: seen.append(ask(text, 2)))
        reading.start()
        time.sleep(BEGUN_SECONDS)
        beside.append(ask(_story(bare, dice, SHORT), 2).first_seconds)
        reading.join()
        largest.append(BEST["n_batch"] * (seen[0].first_seconds - beside[-1]) / seen[0].prompt_tokens)
    batch = min(BATCH_SECONDS, statistics.median(largest))
    later = statistics.median(beside) - statistics.median(alone)
    return [
        (
            "another request while it reads",
            f"{later:.2f} s later",
            f"a batch: {batch:.2f} s",
            f"{later / batch:.1f} batches",
            verdict(later / batch, at_most=2.0, unit=" batches"),
        )
    ]
