"""Timeouts of questions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
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
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Owner, Resolution, RunSnapshot, RunState, SuspendReason
from aeond.errors import AeondError, OverloadedError, UnavailableError, WrongStateError
from aeond.service.runs.question_timeouts import RETRY_SECONDS, QuestionTimeouts
from tests.support.doubles import ManualClock

WITH_DEFAULT = InputRequest("which?", default="red", has_default=True, deadline_seconds=60)
WITHOUT = InputRequest("which?", deadline_seconds=60)


class Lapsing:
    """A QuestionTimeouts at work, and what it delivered."""

    def __init__(self, clock: ManualClock, *refusals: AeondError) -> None:
        self.clock = clock
        self.lapsing = QuestionTimeouts(clock)
        self.delivered: list[tuple[str, EventKind]] = []
        self.refusals = list(refusals)

    async def deliver(self, run_id: str, kind: EventKind) -> None:
        self.delivered.append((run_id, kind))
        if self.refusals:
            raise self.refusals.pop(0)

    def ask(self, request: InputRequest, question_id: str = "s1.1") -> None:
        question = Question(question_id, "s1", request, self.clock.time())
        self.lapsing.hear([Event("run", 1, 0.0, 0.0, InputRequested(question))])

    def happens(self, kind: EventKind) -> None:
        self.lapsing.hear([Event("run", 2, 0.0, 0.0, kind)])

    async def settled(self) -> None:
        """Everything that is due has been done."""
        for _ in range(20):
            await anyio.lowlevel.checkpoint()

    async def pass_by(self, seconds: float) -> None:
        await self.settled()
        self.clock.advance(seconds)
        await self.settled()


@asynccontextmanager
async def lapsing(*refusals: AeondError) -> AsyncIterator[Lapsing]:
    one = Lapsing(ManualClock(), *refusals)
    async with anyio.create_task_group() as group:
        group.start_soon(one.lapsing.run, one.deliver)
        yield one
        group.cancel_scope.cancel()


@pytest.mark.parametrize("goes_on", [StepResolved(Resolution.DONE, Owner(), "s2"), RunResumed()])
async def test_a_suspended_run_answers_when_it_goes_on(goes_on: EventKind) -> None:
    """A deadline that passes while the run is suspended is not lost: the question ends once the run goes on."""
    async with lapsing() as one:
        one.ask(WITH_DEFAULT)
        one.happens(RunSuspended(SuspendReason.UNKNOWN_STEP))
        await one.pass_by(61)
        assert one.delivered == []
        one.happens(goes_on)
        await one.settled()
        assert one.delivered == [("run", InputAnswered("s1.1", "red", Owner()))]


async def test_a_suspended_run_that_ends_is_asked_nothing() -> None:
    """Questions that timed out in a suspended run are dropped when the run is cancelled."""
    async with lapsing() as one:
        one.ask(WITH_DEFAULT)
        one.happens(RunSuspended(SuspendReason.UNKNOWN_STEP))
        await one.pass_by(61)
        one.happens(RunEnded(RunState.CANCELLED))
        one.happens(RunResumed())
        await one.settled()
        assert one.delivered == []


async def test_the_default_answers_when_the_time_is_up() -> None:
    """At its deadline, and not before, a question gets its default answer, without an owner."""
    async with lapsing() as one:
        one.ask(WITH_DEFAULT)
        await one.pass_by(59)
        assert one.delivered == []
        await one.pass_by(2)
        assert one.delivered == [("run", InputAnswered("s1.1", "red", Owner()))]
        assert one.lapsing.count == 0


async def test_without_a_default_the_step_fails() -> None:
    """The step ends FAILED with a reason of its own."""
    async with lapsing() as one:
        one.ask(WITHOUT)
        await one.pass_by(61)
    ((_, kind),) = one.delivered
    assert isinstance(kind, StepEnded)
    assert (kind.step_id, kind.state, kind.reason) == ("s1", StepState.FAILED, "INPUT_TIMEOUT")


async def test_an_answered_question_does_not_lapse() -> None:
    """An answered question does not time out, and one without a deadline is not tracked."""
    async with lapsing() as one:
        one.ask(WITH_DEFAULT)
        one.ask(InputRequest("which?"), "s2.1")
        assert one.lapsing.count == 1
        one.lapsing.hear([Event("run", 2, 0.0, 0.0, InputAnswered("s1.1", "blue", Owner()))])
        await one.pass_by(1_000)
        assert one.delivered == []


async def test_questions_lapse_each_in_its_time() -> None:
    """A later question with a shorter deadline comes first."""
    async with lapsing() as one:
        one.ask(WITH_DEFAULT, "slow")
        await one.settled()
        one.ask(InputRequest("which?", default="x", has_default=True, deadline_seconds=5), "quick")
        await one.pass_by(6)
        assert [kind.question_id for _, kind in one.delivered if isinstance(kind, InputAnswered)] == ["quick"]
        await one.pass_by(60)
        assert len(one.delivered) == 2


@pytest.mark.parametrize("refusal", [OverloadedError("busy"), UnavailableError("starting")])
async def test_what_cannot_be_delivered_now_is_tried_again(refusal: AeondError) -> None:
    """A timeout that a starting or busy daemon rejects is delivered a little later."""
    async with lapsing(refusal) as one:
        one.ask(WITH_DEFAULT)
        await one.pass_by(61)
        await one.pass_by(RETRY_SECONDS)
        assert len(one.delivered) == 2


async def test_a_question_that_was_answered_in_the_same_moment_is_left() -> None:
    """When an answer was first the default is refused, and that is the end of it."""
    async with lapsing(WrongStateError("not open")) as one:
        one.ask(WITH_DEFAULT)
        await one.pass_by(61)
        await one.pass_by(1_000)
        assert len(one.delivered) == 1


@pytest.mark.parametrize(("asked", "left"), [(-1_000.0, 0.0), (-20.0, 40.0), (0.0, 60.0), (5_000.0, 60.0)])
async def test_after_a_restart_what_is_left_counts(asked: float, left: float) -> None:
    """By the journaled time, never less than nothing and never more than the whole, however the clock jumped."""
    async with lapsing() as one:
        question = Question("s1.1", "s1", WITH_DEFAULT, one.clock.time() + asked)
        step = StepSnapshot(PlanStep("s1", "ask"), StepState.RUNNING, question=question)
        run = RunSnapshot("run", state=RunState.AWAITING_INPUT, steps={"s1": step})
        one.lapsing.restore(run)
        one.lapsing.restore(run)
        if left:
            await one.pass_by(left - 0.5)
            assert one.delivered == []
            await one.pass_by(1)
        await one.settled()
        assert len(one.delivered) == 1
