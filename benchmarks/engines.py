"""What our way to an engine costs against its own server, and what a plan's schema costs."""

from pathlib import Path
from typing import Any, Final

from benchmarks.page import Section, verdict
from benchmarks.real_engines import NAMES, is_installed, not_installed, told

ROUNDS: Final = 10
TOKENS: Final = 64
AT_ONCE: Final = (1, 8, 16)


def measure(_folder: Path) -> Section:
    """A process of its own for each engine that is installed here."""
    rows: list[tuple[str, ...]] = []
    for engine, name in NAMES.items():
        if is_installed(engine):
            rows += _rows(name, told("engine_path", engine, ROUNDS, TOKENS))
        else:
            rows.append(not_installed(engine, 5))
    return Section(
        "The way to the engine",
        f"SmolLM2-135M, the same prompts by our adapter and by a plain HTTP client at the engine's own server, in turns, "
        f"{ROUNDS} rounds: the time to the first token of one request whose beginning is known, then so many answers of "
        f"{TOKENS} tokens at once; then eight plans of twenty tools with and without their schema. What is added to the first "
        "token is the median over pairs that stood beside each other, ratios are medians over the rounds. llama.cpp is given "
        "prompts in pieces, so that a request can be cancelled while it is read; its server driven directly cannot be.",
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
                f"{name}: tokens a second, {at_once} at once",
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
