"""What running ready steps together is worth: six steps of a real model, one after another and at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring import ROOT
from benchmarks.page import Section, verdict

STEPS = 6
TOKENS = 64
ROUNDS = 3
LIMIT_SECONDS = 900.0


def measure(folder: Path) -> Section:
    """A process of its own loads the model once and runs both ways in turns."""
    outcome = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.contenders.batch_steps",
            folder,
            str(STEPS),
            str(TOKENS),
            str(ROUNDS),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    if outcome.returncode != 0:
        message = f"batch_steps: exit {outcome.returncode}\n{outcome.stderr[-2000:]}"
        raise RuntimeError(message)
    told = json.loads(outcome.stdout.splitlines()[-1])
    apart, together, ratio = told["apart"], told["together"], told["ratio"]
    tokens = STEPS * TOKENS
    return Section(
        "Steps of a model",
        f"One run of {STEPS} steps that wait for nothing, each an answer of {TOKENS} tokens from "
        f"SmolLM2-135M on llama.cpp: one at a time, and as many at once as are ready. {ROUNDS} times in turns "
        "on one engine; the gain is the median over the turns. Two cores compute little more at once than one "
        "after another; engines that batch by design gain more.",
        ("how", "seconds", "tokens a second", "gain", "aim"),
        (
            ("one after another", f"{apart:.2f}", f"{tokens / apart:.0f}", "1.0", ""),
            (
                "together",
                f"{together:.2f}",
                f"{tokens / together:.0f}",
                f"{ratio:.1f}",
                verdict(ratio, at_least=1.0),
            ),
        ),
    )
