"""How soon an engine is free after a cancel that comes while it reads a prompt."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.measuring import ROOT
from benchmarks.page import Section, milliseconds, verdict

MODEL: Final = "qwen2.5-coder-1.5b-instruct"
COUNT: Final = 20
AIM_SECONDS: Final = 0.1
LIMIT_SECONDS: Final = 1_200.0


def measure(_folder: Path) -> Section:
    """A process of its own with the default model; the machine must have nothing else to do."""
    with tempfile.TemporaryDirectory(prefix="aeond-") as own:  # a short path: sockets are in it
        outcome = subprocess.run(
            [sys.executable, "-m", "benchmarks.contenders.cancelling", own, MODEL, str(COUNT)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
            cwd=ROOT,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
    if outcome.returncode != 0:
        message = f"cancelling: exit {outcome.returncode}\n{outcome.stderr[-2000:]}"
        raise RuntimeError(message)
    seconds: list[float] = json.loads(outcome.stdout.splitlines()[-1])
    soon = sum(one <= AIM_SECONDS for one in seconds)
    return Section(
        "Cancelling while a prompt is read",
        f"{COUNT} prompts of 600 words that the default model (1.5B) has never seen, each cancelled two to three seconds "
        "into its reading; then how long until no slot of the engine is at work.",
        ("median", "longest", f"within {milliseconds(AIM_SECONDS)}", "aim"),
        (
            (
                milliseconds(statistics.median(seconds)),
                milliseconds(max(seconds)),
                f"{soon} of {len(seconds)}",
                verdict(max(seconds) * 1e3, at_most=AIM_SECONDS * 1e3, unit=" ms"),
            ),
        ),
    )
