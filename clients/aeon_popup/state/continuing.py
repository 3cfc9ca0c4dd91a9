"""Where a failed run can be continued: just before its first failed step, with every finished step kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from aeon_cli.runs.checklist import Checklist
from aeond_client.events import Event, StepStarted
from aeond_client.records.runs import StepState

_FAILED = {StepState.FAILED, StepState.INVALID}
# A run that is copied while a step is in one of these states starts that step again, or asks a person about it.
_UNDER_WAY = {StepState.RUNNING, StepState.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Start:
    """The last event before a step started for the first time, and the steps that had succeeded by then. `seq` is 0 if another
    step was under way.
    """

    seq: int
    done: frozenset[str]


@dataclass(frozen=True, slots=True)
class RetryPoint:
    """The last event that a continued run keeps, and the numbers of its steps: the one that it starts with, and the kept ones."""

    after_seq: int
    number: int
    kept: tuple[int, ...]


def with_start(starts: Mapping[str, Start], steps: Checklist, event: Event) -> Mapping[str, Start]:
    """The starts of a run's steps after an event; `steps` are those before it."""
    if not isinstance(event.kind, StepStarted) or event.kind.step.step_id in starts:
        return starts
    alone = all(line.state not in _UNDER_WAY for line in steps.lines)
    return {**starts, event.kind.step.step_id: Start(event.seq - 1 if alone else 0, _done(steps))}


def retry_point(steps: Checklist, starts: Mapping[str, Start]) -> RetryPoint | None:
    """The point before the first failed step; None if a run that continues there would keep nothing, or would repeat a finished
    step.
    """
    failed = [line.step_id for line in steps.lines if line.state in _FAILED]
    known = [(starts[step_id].seq, step_id) for step_id in failed if step_id in starts]
    if not failed or len(known) < len(failed):
        return None
    seq, step_id = min(known)
    done = _done(steps)
    if not seq or not done or starts[step_id].done != done:
        return None
    kept = tuple(number for name, number in steps.place.items() if name in done)
    return RetryPoint(seq, steps.place[step_id], kept)


def _done(steps: Checklist) -> frozenset[str]:
    return frozenset(line.step_id for line in steps.lines if line.state is StepState.SUCCEEDED)
