"""What our way to an engine costs against its own server, and what a plan's schema costs."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import ROOT
from benchmarks.page import Section, verdict

ROUNDS: Final = 3
TOKENS: Final = 64
LIMIT_SECONDS: Final = 1_800.0
AT_ONCE: Final = (1, 8, 16)
ENGINES: Final = {"llama_cpp": "llama.cpp", "vllm": "vLLM"}


def measure(folder: Path) -> Section:
    """A process of its own for each engine that is installed here."""
    rows: list[tuple[str, ...]] = []
    for engine, name in ENGINES.items():
        if engine == "vllm" and not (ROOT / ".venv-engine" / "bin" / "python").exists():
            rows.append((f"{name}: not installed here (make engine-setup)", "", "", "", ""))
            continue
        rows += _rows(name, told(folder, engine))
    return Section(
        "The way to the engine",
        f"SmolLM2-135M, the same prompts by our adapter and by a plain HTTP client at the engine's own server, in turns, "
        f"{ROUNDS} rounds: the time to the first token of one request whose beginning is known, then so many answers of "
        f"{TOKENS} tokens at once; then eight plans of twenty tools with and without their schema. Ratios are medians "
        "over the rounds. llama.cpp is given prompts in pieces, so that a request can be cancelled while it is read; its "
        "server driven directly cannot be.",
        ("what", "by aeond", "directly", "ratio", "aim"),
        tuple(rows),
    )


def told(folder: Path, engine: str, rounds: int = ROUNDS, tokens: int = TOKENS) -> dict[str, Any]:
    """The figures of one engine."""
    with tempfile.TemporaryDirectory(prefix="aeond-") as own:  # a short path: sockets are in it
        command = [sys.executable, "-m", "benchmarks.contenders.engine_path"]
        outcome = subprocess.run(
            [*command, own, engine, str(rounds), str(tokens)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
            cwd=ROOT,
            env={**os.environ, "PYTHONUTF8": "1", "TMPDIR": str(folder)},
        )
    if outcome.returncode != 0:
        message = f"engine_path {engine}: exit {outcome.returncode}\n{outcome.stderr[-2000:]}"
        raise RuntimeError(message)
    found: dict[str, Any] = json.loads(outcome.stdout.splitlines()[-1])
    return found


def _rows(name: str, figures: dict[str, Any]) -> list[tuple[str, ...]]:
    mine, theirs = figures["first"]["ours"] * 1e3, figures["first"]["direct"] * 1e3
    rows: list[tuple[str, ...]] = [
        (
            f"{name}: first token",
            f"{mine:.1f} ms",
            f"{theirs:.1f} ms",
            f"{mine - theirs:+.1f} ms",
            verdict(mine - theirs, at_most=2.0, unit=" ms"),
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
