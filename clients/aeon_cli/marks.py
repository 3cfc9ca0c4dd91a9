"""The sign and the colour of each state: shape as well as colour, so that neither is needed alone."""

from dataclasses import dataclass

from aeond_client.runs import RunState, StepState


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign one cell wide, what stands for it in ASCII, and the name of its colour."""

    sign: str
    ascii_sign: str
    colour: str

    def shown(self, *, unicode: bool) -> str:
        return self.sign if unicode else self.ascii_sign


DONE = Mark("✓", "+", "green")
RUNNING = Mark("•", "*", "cyan")
FAILED = Mark("✗", "x", "red")
SKIPPED = Mark("–", "-", "bright_black")  # noqa: RUF001 - an en dash is as wide as the other signs
UNKNOWN = Mark("?", "?", "yellow")
WAITING = Mark("·", ".", "bright_black")

OF_STEP: dict[StepState, Mark] = {
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

OF_RUN: dict[RunState, Mark] = {
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
