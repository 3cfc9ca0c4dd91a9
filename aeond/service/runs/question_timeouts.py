"""Question timeouts: a question that is not answered in time gets its default answer, or its step fails.

Within one daemon process a deadline is a time on the monotonic clock, which does not jump. For a question
from an earlier process only the wall-clock time of asking is known: the remaining time is computed from it,
limited to the range from zero to the requested time.
"""

import heapq
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio

from aeond.domain.plans.plan import StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.events import (
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
from aeond.domain.runs.run import Owner, RunSnapshot, RunState
from aeond.errors import AeondError, NotFoundError, OverloadedError, UnavailableError, WrongStateError
from aeond.ports import Clock

RETRY_SECONDS: Final = 5.0

log = logging.getLogger("aeond.runs")

Deliver = Callable[[str, EventKind], Awaitable[None]]


class QuestionTimeouts:
    """Tracks the deadlines of all open questions. `hear` and `restore` add questions; `run` applies
    timeouts.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: list[tuple[float, str, str]] = []  # by the monotonic clock: time, run id, question id
        self._questions: dict[tuple[str, str], Question] = {}
        self._suspended: dict[str, list[Question]] = {}  # by run: questions that timed out in the meantime
        self._earlier = anyio.Event()

    @property
    def count(self) -> int:
        """The number of questions with a deadline that has not passed."""
        return len(self._questions)

    def hear(self, events: Sequence[Event]) -> None:
        """Records asked and answered questions, and suspended runs, whose questions do not time out."""
        for event in events:
            match event.kind:
                case InputRequested(question=question):
                    self._note(event.run_id, question, question.request.deadline_seconds)
                case InputAnswered(question_id=question_id):
                    self._questions.pop((event.run_id, question_id), None)
                case RunSuspended():
                    self._suspended.setdefault(event.run_id, [])
                case RunResumed() | StepResolved():
                    for question in self._suspended.pop(event.run_id, ()):
                        self._note(event.run_id, question, 0.0, lasts=True)
                case RunEnded():
                    self._suspended.pop(event.run_id, None)
                case _:
                    pass

    def restore(self, run: RunSnapshot) -> None:
        """Records the open questions of a run from an earlier daemon."""
        if run.state is RunState.SUSPENDED:
            self._suspended.setdefault(run.run_id, [])
        for question in run.questions:
            whole = question.request.deadline_seconds
            left = question.deadline_time - self._clock.time()
            if (run.run_id, question.question_id) not in self._questions:
                self._note(run.run_id, question, min(max(left, 0.0), whole), lasts=whole > 0)

    async def run(self, deliver: Deliver) -> None:
        """Ends questions at their deadline, until cancelled."""
        async with anyio.create_task_group() as endings:
            while True:
                self._earlier = anyio.Event()
                while self._due and self._due[0][0] <= self._clock.monotonic():
                    _, run_id, question_id = heapq.heappop(self._due)
                    question = self._questions.pop((run_id, question_id), None)
                    if question is not None and run_id in self._suspended:
                        self._suspended[run_id].append(question)
                    elif question is not None:
                        endings.start_soon(self._end, deliver, run_id, question)
                async with anyio.create_task_group() as either:
                    if self._due:
                        either.start_soon(self._wake_at, self._due[0][0])
                    await self._earlier.wait()
                    either.cancel_scope.cancel()

    def _note(self, run_id: str, question: Question, seconds: float, *, lasts: bool | None = None) -> None:
        if not (seconds > 0 if lasts is None else lasts):
            return
        self._questions[run_id, question.question_id] = question
        heapq.heappush(self._due, (self._clock.monotonic() + seconds, run_id, question.question_id))
        self._earlier.set()

    async def _wake_at(self, monotonic_seconds: float) -> None:
        await self._clock.sleep_until(monotonic_seconds)
        self._earlier.set()

    async def _end(self, deliver: Deliver, run_id: str, question: Question) -> None:
        try:
            await deliver(run_id, _ending(question))
        except (OverloadedError, UnavailableError) as error:
            self._note(run_id, question, error.retry_after_seconds or RETRY_SECONDS)
        except (NotFoundError, WrongStateError):
            pass  # answered or ended in the meantime
        except AeondError as error:
            log.warning("a question could not be ended: %s", error, extra={"run_id": run_id})


def _ending(question: Question) -> EventKind:
    request = question.request
    if request.has_default:
        return InputAnswered(question.question_id, request.default, Owner())
    error = f"no answer within {request.deadline_seconds:g} seconds, and there is no default"
    return StepEnded(question.step_id, StepState.FAILED, StepMode.TOOL, error=error, reason="INPUT_TIMEOUT")
