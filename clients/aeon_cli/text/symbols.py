"""Symbol and colour for each state. Shape and colour both identify the state, so either alone suffices."""

from dataclasses import dataclass

from aeond_client.records.runs import RunState, StepState


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol one cell wide, its ASCII replacement and the name of its colour."""

    sign: str
    ascii_sign: str
    colour: str

    def shown(self, *, unicode: bool) -> str:
        return self.sign if unicode else self.ascii_sign


DONE = Symbol("✓", "+", "green")
RUNNING = Symbol("•", "*", "cyan")
FAILED = Symbol("✗", "x", "red")
SKIPPED = Symbol("–", "-", "bright_black")  # noqa: RUF001 - an en dash is as wide as the other signs
UNKNOWN = Symbol("?", "?", "yellow")
WAITING = Symbol("·", ".", "bright_black")

OF_STEP: dict[StepState, Symbol] = {
    StepState.UNSPECIFIED: UNKNOWN,
    StepState.PENDING: WAITING,
    StepState.READY: WAITING,
    StepState.RUNNING: RUNNING,
    StepState.SUCCEEDED: DONE,
    StepState.FAILED: FAILED,
    StepState.INVALID: FAILED,
    StepState.SKIPPED: SKIPPED,
    StepState.UNKNOWN: UNKNOWN,
}

OF_RUN: dict[RunState, Symbol] = {
    RunState.UNSPECIFIED: UNKNOWN,
    RunState.PENDING: WAITING,
    RunState.RUNNING: RUNNING,
    RunState.AWAITING_INPUT: UNKNOWN,
    RunState.SUSPENDED: UNKNOWN,
    RunState.SUCCEEDED: DONE,
    RunState.FAILED: FAILED,
    RunState.CANCELLED: SKIPPED,
    RunState.EXPIRED: FAILED,
}
