"""Samples and their collection: each contender in a separate process, in alternation."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONTENDERS = ROOT / "benchmarks" / "contenders"
OURS = Path(sys.executable)
THEIRS = ROOT / ".venv-bench" / "bin" / "python"
LIMIT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Durations in seconds of the same operation."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def fastest_tenth(self) -> float:
        """The cost without disturbance: the tenth percentile."""
        return statistics.quantiles(self.seconds, n=10)[0]


@dataclass(frozen=True, slots=True)
class Contender:
    """A program that prints a JSON list of durations, and its arguments."""

    name: str
    python: Path
    script: str
    arguments: tuple[str, ...] = ()  # before FOLDER and COUNT
    count: int = 12  # operations per round
    warm_up: int = 2  # discarded operations at the start

    def turn(self, folder: Path) -> list[float]:
        """Runs once in a separate folder on the measured disk."""
        with tempfile.TemporaryDirectory(dir=folder) as own:
            outcome = subprocess.run(
                [self.python, CONTENDERS / self.script, *self.arguments, own, str(self.count)],
                capture_output=True,
                text=True,
                check=False,
                timeout=LIMIT_SECONDS,
                cwd=ROOT,
                env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PATH": "/usr/bin:/bin", "HOME": own},
            )
        if outcome.returncode != 0:
            message = f"{self.name}: exit {outcome.returncode}\n{outcome.stderr[-2000:]}"
            raise RuntimeError(message)
        durations: list[float] = json.loads(outcome.stdout.splitlines()[-1])
        return durations[self.warm_up :]


@dataclass(frozen=True, slots=True)
class Rounds:
    """The times of each contender by round; the n-th rounds of all are adjacent in time."""

    samples: Mapping[str, Sequence[Sample]]

    def whole(self, name: str) -> Sample:
        """All rounds of one contender as one sample."""
        return Sample(tuple(seconds for turn in self.samples[name] for seconds in turn.seconds))

    def ratio(self, name: str, other: str) -> float:
        """How much longer the first takes: the median over the rounds, so that a disturbance affects both."""
        pairs = zip(self.samples[name], self.samples[other], strict=True)
        return statistics.median(mine.median / theirs.median for mine, theirs in pairs)


def in_turns(contenders: Sequence[Contender], rounds: int, folder: Path) -> Rounds:
    """Runs every contender once per round."""
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    for number in range(1, rounds + 1):
        for contender in contenders:
            print(f"  round {number} of {rounds}: {contender.name}", flush=True)
            samples[contender.name].append(Sample(tuple(contender.turn(folder))))
    return Rounds(samples)
