"""The overhead of our path to an engine compared with its own server, and the cost of a plan's schema."""

from pathlib import Path
from typing import Any, Final

from benchmarks.page import Section, verdict
from benchmarks.real_engines import NAMES, is_installed, measured, not_installed

ROUNDS: Final = 10
TOKENS: Final = 64
AT_ONCE: Final = (1, 8, 16)


def measure(_folder: Path) -> Section:
    """A separate process for each installed engine."""
    rows: list[tuple[str, ...]] = []
    for engine, name in NAMES.items():
        if is_installed(engine):
            rows += _rows(name, measured("engine_path", engine, ROUNDS, TOKENS))
        else:
            rows.append(not_installed(engine, 5))
    return Section(
        "The path to the engine",
        "SmolLM2-135M, the same prompts through our adapter and through a plain HTTP client at the"
        f" engine's own server, in alternation, {ROUNDS} rounds: the time to the first token of one"
        f" request with a cached prefix, then the given number of concurrent answers of {TOKENS} tokens,"
        " then eight plans of twenty tools with and without their schema. The overhead on the first"
        " token is the median over adjacent pairs; ratios are medians over the rounds. Our adapter sends"
        " prompts to llama.cpp batch by batch; its own server, used directly, gets them whole.",
        ("what", "by aeond", "directly", "ratio", "aim"),
        tuple(rows),
    )


def _rows(name: str, figures: dict[str, Any]) -> list[tuple[str, ...]]:
    mine, theirs, added = (1e3 * one for one in (*figures["first"].values(), figures["added"]))
    rows: list[tuple[str, ...]] = [
        (
            f"{name}: first token",
            f"{mine:.1f} ms",
            f"{theirs:.1f} ms",
            f"{added:+.1f} ms",
            verdict(added, at_most=2.0, unit=" ms"),
        )
    ]
    for place, at_once in enumerate(AT_ONCE):
        ours, direct = figures["rates"]["ours"][place], figures["rates"]["direct"][place]
        ratio = figures["ratios"][place]
        rows.append(
            (
                f"{name}: tokens a second, {at_once} concurrent",
                f"{ours:.0f}",
                f"{direct:.0f}",
                f"{ratio:.2f}",
                verdict(ratio, at_least=0.97),
            )
        )
    plans = figures["plans"]
    rows.append(
        (
            f"{name}: tokens a second of 8 plans, with their schema and without",
            f"{plans['on']:.0f}",
            f"{plans['off']:.0f} (ours, without)",
            f"{figures['plan_ratio']:.2f}",
            "",
        )
    )
    return rows
