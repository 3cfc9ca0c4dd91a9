"""The installed engines for real models, and processes that use one."""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Final

from benchmarks.measuring import ROOT

NAMES: Final = {"llama_cpp": "llama.cpp", "vllm": "vLLM"}
LIMIT_SECONDS: Final = 1_800.0


def is_installed(engine: str) -> bool:
    """Whether it can be started from this checkout."""
    return engine != "vllm" or (ROOT / ".venv-engine" / "bin" / "python").exists()


def not_installed(engine: str, columns: int) -> tuple[str, ...]:
    """A table row for an engine that is not installed."""
    return (f"{NAMES[engine]}: not installed here (make engine-setup)", *[""] * (columns - 1))


def measured(contender: str, *arguments: object) -> Any:
    """The output of a contender in a separate process and folder; the folder is its first argument."""
    with tempfile.TemporaryDirectory(prefix="aeond-") as folder:  # a short path, because it contains sockets
        outcome = subprocess.run(
            [sys.executable, "-m", f"benchmarks.contenders.{contender}", folder, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
            cwd=ROOT,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
    if outcome.returncode != 0:
        message = f"{contender} {arguments}: exit {outcome.returncode}\n{outcome.stderr[-2000:]}"
        raise RuntimeError(message)
    return json.loads(outcome.stdout.splitlines()[-1])
