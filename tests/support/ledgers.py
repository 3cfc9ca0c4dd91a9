"""Plans of tools that keep a ledger, and what the ledger says."""

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from aeond_client.records.runs import Plan, PlanStep

TOOL_FILE = Path(__file__).with_name("ledger_tools.py")


class Ledger:
    """The records of the tools in tests/support/ledger_tools.py."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []

    def begun(self, run_id: str) -> Counter[str]:
        """How often each step of a run really began."""
        return self._count("begin", run_id)

    def ended(self, run_id: str) -> Counter[str]:
        """How often each step of a run really ended."""
        return self._count("end", run_id)

    def _count(self, word: str, run_id: str) -> Counter[str]:
        start = f"{word} {run_id}/"
        return Counter(line.removeprefix(start) for line in self.lines if line.startswith(start))


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags & ~(os.O_CREAT | os.O_TRUNC) | os.O_NONBLOCK)


class Gate:
    """A FIFO that holds a step inside of its tool until `open`, also over restarts of the daemon."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    def held(self, deadline_seconds: float = 60.0) -> int:
        """Returns once a step waits at the gate: where to write what lets it go."""
        came: SimpleQueue[int] = SimpleQueue()
        Thread(target=lambda: came.put(os.open(self.path, os.O_WRONLY)), daemon=True).start()
        return came.get(timeout=deadline_seconds)

    def clear(self) -> None:
        """Lets every step through that waits now, so that none takes the place of a later one."""
        with suppress(OSError):  # when no step waits
            while True:
                with open(self.path, "wb", buffering=0, opener=_without_waiting) as fifo:
                    fifo.write(b"!")

    def open(self) -> None:
        """Lets one step through, once it has come."""
        descriptor = self.held()
        os.write(descriptor, b"!")
        os.close(descriptor)


def deed(
    step_id: str, tool: str, *depends_on: str, gate: Gate | None = None, seconds: float = 0.0
) -> PlanStep:
    """A step that calls one of the ledger's tools, which works for so long."""
    arguments = {"gate": "" if gate is None else str(gate.path), "seconds": seconds}
    return PlanStep(step_id, f"{tool} as {step_id}", tool, arguments, depends_on=depends_on)


def chain(*steps: PlanStep) -> Plan:
    return Plan("a chain of deeds", _each_after_the_one_before(steps))


def _each_after_the_one_before(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    chained: list[PlanStep] = []
    for step in steps:
        before = (chained[-1].step_id,) if chained else ()
        chained.append(PlanStep(step.step_id, step.description, step.tool, step.arguments, depends_on=before))
    return tuple(chained)
