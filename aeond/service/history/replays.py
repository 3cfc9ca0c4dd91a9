"""Replays a run from its record: with the recorded signals as input, the kernel must take the same
decisions.
"""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Final

from aeond.domain.runs import events as e
from aeond.domain.runs.commands import Command, ExecuteStep, Interrupt, Operate, Record
from aeond.domain.runs.run import RunSnapshot, RunState, SuspendReason
from aeond.errors import InvalidInputError, ReplayError
from aeond.ports import Journal
from aeond.service.folding import Fold, run_not_found

Decide = Callable[[RunSnapshot], Sequence[Command]]

# Events requested by `decide`. The others are signals: outcomes and external input.
DECIDED: Final = (e.RunStarted, e.PassStarted, e.PassEnded, e.OperationStarted, e.PlanningStarted)
DECIDED_TOO: Final = (e.AnswerStarted, e.StepStarted, e.BudgetExhausted, e.RunSuspended, e.RunEnded)

# Suspensions that `decide` does not request: they come from the journal, the scheduler and its deadlines.
_NOT_DECIDED: Final = (SuspendReason.DISK_FULL, SuspendReason.WORKSPACE_CHANGED, SuspendReason.APPROVAL)


class Replay:
    """Takes the events of one run in order and returns each as re-created by the current code."""

    def __init__(self, run_id: str, decide: Decide, fold: Fold) -> None:
        self._decide = decide
        self._fold = fold
        self._run = RunSnapshot(run_id)
        self._due: deque[Command] = deque()

    def next(self, recorded: e.Event) -> e.Event:
        """ReplayError (reason REPLAY_MISMATCH) if the code decides differently from the record."""
        kind = recorded.kind
        if isinstance(kind, DECIDED + DECIDED_TOO) and not _came_from_outside(kind):
            self._due = self._due or deque(c for c in self._decide(self._run) if not isinstance(c, Interrupt))
            command = self._due.popleft() if self._due else None
            if not _asks_for(command, kind):
                said = f"event {recorded.seq} is {type(kind).__name__}, expected {command or 'none'}"
                raise ReplayError(f"run {recorded.run_id}: {said}", reason="REPLAY_MISMATCH")
            kind = command.kind if isinstance(command, Record) else kind
        elif isinstance(kind, e.RunParked):
            self._due.clear()  # the events copied by a fork may end between two that were due together
        event = e.Event(recorded.run_id, recorded.seq, recorded.time, recorded.elapsed_seconds, kind)
        self._run = self._fold(self._run, event)
        return event


class Replays:
    """Replays runs of the journal, without model or tools, and without changing anything."""

    def __init__(self, journal: Journal, decide: Decide, fold: Fold) -> None:
        self._journal = journal
        self._decide = decide
        self._fold = fold

    def check(self, events: Sequence[e.Event]) -> None:
        """ReplayError if the first events of a run are inconsistent, or the code decides differently."""
        replay = Replay(events[0].run_id, self._decide, self._fold)
        for event in events:
            replay.next(event)

    async def replay(self, run_id: str, until_seq: int = 0) -> AsyncGenerator[Sequence[e.Event], None]:
        """The re-created events, a page at a time, up to `until_seq` (0: all).

        NotFoundError if the run does not exist, InvalidInputError (reason SEQ_AHEAD) for an event that it has
        not reached, ReplayError (reason REPLAY_MISMATCH) at the first event where journal and code differ.
        """
        replay, seq = Replay(run_id, self._decide, self._fold), 0
        while page := await self._journal.read(run_id, seq, min(256, until_seq - seq) if until_seq else 256):
            yield [replay.next(event) for event in page]
            seq = page[-1].seq
            if seq == until_seq:
                return
        if seq == 0:
            raise run_not_found(run_id)
        if seq < until_seq:
            raise InvalidInputError(
                f"run {run_id} has {seq} events, not {until_seq}", reason="SEQ_AHEAD", field="until_seq"
            )


def _came_from_outside(kind: e.EventKind) -> bool:
    match kind:
        case e.BudgetExhausted(dimension):
            return dimension == "wall_seconds"
        case e.RunSuspended(reason):
            return reason in _NOT_DECIDED
        case e.RunEnded(RunState.FAILED, problem):
            return problem is not None and problem.reason == "INTERNAL"
        case _:
            return False


def _asks_for(command: Command | None, kind: e.EventKind) -> bool:
    match command, kind:
        case Record(wanted), _:
            return kind == wanted
        case Operate(), _:
            return kind == command.intent
        case ExecuteStep(step_id, reservation), e.StepStarted():
            return (kind.step.step_id, kind.reservation) == (step_id, reservation)
        case _:
            return False
