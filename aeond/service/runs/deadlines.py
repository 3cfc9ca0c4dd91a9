"""Deadlines of what runs ask people: a question gets its default answer or its step fails, an approval counts as
denied, and a run whose approval has no watcher is suspended.

Within one daemon process a deadline is a time on the monotonic clock, which does not jump. For a question or an
approval from an earlier process only the wall-clock time of asking is known: the remaining time is computed from it,
limited to the range from zero to the whole time. While a run is suspended nothing of it times out.
"""

import heapq
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio

from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.events import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    CancelRequested,
    Event,
    EventKind,
    InputAnswered,
    InputRequested,
    RunEnded,
    RunResumed,
    RunSuspended,
    StepEnded,
    StepResolved,
)
from aeond.domain.runs.questions import Question
from aeond.domain.runs.run import Owner, RunSnapshot, RunState, SuspendReason
from aeond.errors import AeondError, NotFoundError, OverloadedError, UnavailableError, WrongStateError
from aeond.frozen import frozen
from aeond.ports import Clock

RETRY_SECONDS: Final = 5.0

log = logging.getLogger("aeond.runs")

Deliver = Callable[[str, EventKind], Awaitable[None]]


@frozen
class _Deadline:
    """What happens to a run when a time has passed. `item_id` is unique among its deadlines. With `put_off` it does
    not happen while a client watches the run."""

    item_id: str
    ending: EventKind
    put_off: bool = False


class Deadlines:
    """Tracks the deadlines of all open questions and approvals. `hear` and `restore` add them; `run` applies them.

    `attended` says whether a client watches a run; `attend_seconds` is how long an approval waits for one.
    """

    def __init__(
        self, clock: Clock, attended: Callable[[str], bool], attend_seconds: Callable[[], float]
    ) -> None:
        self._clock = clock
        self._attended = attended
        self._attend_seconds = attend_seconds
        self._due: list[tuple[float, str, str]] = []  # by the monotonic clock: time, run id, item id
        self._deadlines: dict[tuple[str, str], _Deadline] = {}
        self._suspended: dict[str, list[_Deadline]] = {}  # by run: those that passed in the meantime
        self._approvals: dict[str, set[str]] = {}  # by run: the open ones
        self._earlier = anyio.Event()

    @property
    def count(self) -> int:
        """The number of deadlines that have not passed."""
        return len(self._deadlines)

    def hear(self, events: Sequence[Event]) -> None:
        """Records what is asked and decided, and suspended runs, of which nothing times out."""
        for event in events:
            match event.kind:
                case InputRequested(question=question) if question.request.deadline_seconds > 0:
                    self._note(event.run_id, _of_question(question), question.request.deadline_seconds)
                case ApprovalRequested(approval=approval) if event.kind.opens:
                    self._open(event.run_id, approval, approval.expire_seconds or None)
                case InputAnswered(question_id=question_id):
                    self._deadlines.pop((event.run_id, question_id), None)
                case ApprovalDecided(approval_id=approval_id):
                    self._close(event.run_id, approval_id)
                case RunSuspended():
                    self._suspended.setdefault(event.run_id, [])
                case RunResumed() | StepResolved():
                    for deadline in self._suspended.pop(event.run_id, ()):
                        self._note(event.run_id, deadline, 0.0)
                case CancelRequested() | BudgetExhausted() | RunEnded():
                    self._suspended.pop(event.run_id, None)
                    for approval_id in tuple(self._approvals.get(event.run_id, ())):
                        self._close(event.run_id, approval_id)
                case _:
                    pass

    def restore(self, run: RunSnapshot) -> None:
        """Records the open questions and approvals of a run from an earlier daemon."""
        if run.state is RunState.SUSPENDED:
            self._suspended.setdefault(run.run_id, [])
        for question in run.questions:
            left = self._left(question.deadline_time, question.request.deadline_seconds)
            if left is not None and (run.run_id, question.question_id) not in self._deadlines:
                self._note(run.run_id, _of_question(question), left)
        for approval in run.approvals:
            if approval.approval_id not in self._approvals.get(run.run_id, ()):
                self._open(run.run_id, approval, self._left(approval.expire_time, approval.expire_seconds))

    async def run(self, deliver: Deliver) -> None:
        """Applies each deadline at its time, until cancelled."""
        async with anyio.create_task_group() as endings:
            while True:
                self._earlier = anyio.Event()
                while self._due and self._due[0][0] <= self._clock.monotonic():
                    _, run_id, item_id = heapq.heappop(self._due)
                    deadline = self._deadlines.pop((run_id, item_id), None)
                    if deadline is not None and run_id in self._suspended:
                        self._suspended[run_id].append(deadline)
                    elif deadline is not None and deadline.put_off and self._attended(run_id):
                        self._note(run_id, deadline, max(self._attend_seconds(), RETRY_SECONDS))
                    elif deadline is not None:
                        endings.start_soon(self._end, deliver, run_id, deadline)
                async with anyio.create_task_group() as either:
                    if self._due:
                        either.start_soon(self._wake_at, self._due[0][0])
                    await self._earlier.wait()
                    either.cancel_scope.cancel()

    def _left(self, deadline_time: float, whole: float) -> float | None:
        """The remaining seconds; None without a deadline."""
        return min(max(deadline_time - self._clock.time(), 0.0), whole) if whole > 0 else None

    def _open(self, run_id: str, approval: ApprovalRequest, expire_seconds: float | None) -> None:
        self._approvals.setdefault(run_id, set()).add(approval.approval_id)
        if expire_seconds is not None:
            expired = ApprovalDecided(approval.approval_id, False, Owner(), approval.digest, expired=True)
            self._note(run_id, _Deadline(approval.approval_id, expired), expire_seconds)
        message = "a tool call needs approval, and no client is watching the run"
        suspended = RunSuspended(SuspendReason.APPROVAL, message)
        deadline = _Deadline(_attendance(approval.approval_id), suspended, not approval.unattended)
        self._note(run_id, deadline, 0.0 if approval.unattended else self._attend_seconds())

    def _close(self, run_id: str, approval_id: str) -> None:
        self._deadlines.pop((run_id, approval_id), None)
        self._deadlines.pop((run_id, _attendance(approval_id)), None)
        self._approvals.get(run_id, set()).discard(approval_id)
        if not self._approvals.get(run_id):
            self._approvals.pop(run_id, None)

    def _note(self, run_id: str, deadline: _Deadline, seconds: float) -> None:
        self._deadlines[run_id, deadline.item_id] = deadline
        heapq.heappush(self._due, (self._clock.monotonic() + seconds, run_id, deadline.item_id))
        self._earlier.set()

    async def _wake_at(self, monotonic_seconds: float) -> None:
        await self._clock.sleep_until(monotonic_seconds)
        self._earlier.set()

    async def _end(self, deliver: Deliver, run_id: str, deadline: _Deadline) -> None:
        try:
            await deliver(run_id, deadline.ending)
        except (OverloadedError, UnavailableError) as error:
            self._note(run_id, deadline, error.retry_after_seconds or RETRY_SECONDS)
        except (NotFoundError, WrongStateError):
            if isinstance(deadline.ending, RunSuspended) and run_id in self._approvals:
                self._note(run_id, deadline, RETRY_SECONDS)  # other steps of the run are still in flight
        except AeondError as error:
            log.warning("a deadline could not be applied: %s", error, extra={"run_id": run_id})


def _of_question(question: Question) -> _Deadline:
    return _Deadline(question.question_id, _ending(question))


def _attendance(approval_id: str) -> str:
    return f"{approval_id} attended"


def _ending(question: Question) -> EventKind:
    request = question.request
    if request.has_default:
        return InputAnswered(question.question_id, request.default, Owner())
    error = f"no answer within {request.deadline_seconds:g} seconds, and there is no default"
    return StepEnded(question.step_id, StepState.FAILED, StepMode.TOOL, error=error, reason="INPUT_TIMEOUT")
