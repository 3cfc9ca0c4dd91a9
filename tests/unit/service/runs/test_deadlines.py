"""Deadlines of questions and approvals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.plan import PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.events import (
    ApprovalDecided,
    ApprovalRequested,
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
from aeond.domain.runs.questions import InputRequest, Question
from aeond.domain.runs.run import Owner, Resolution, RunSnapshot, RunState, SuspendReason
from aeond.domain.tools import ToolCall
from aeond.errors import AeondError, OverloadedError, UnavailableError, WrongStateError
from aeond.service.runs.deadlines import RETRY_SECONDS, Deadlines
from tests.support.doubles import ManualClock

WITH_DEFAULT = InputRequest("which?", default="red", has_default=True, deadline_seconds=60)
WITHOUT = InputRequest("which?", deadline_seconds=60)


ATTEND_SECONDS = 30.0


class Lapsing:
    """Deadlines at work, and what they delivered."""

    def __init__(self, clock: ManualClock, *refusals: AeondError) -> None:
        self.clock = clock
        self.watched: set[str] = set()
        self.lapsing = Deadlines(clock, self.watched.__contains__, lambda: ATTEND_SECONDS)
        self.delivered: list[tuple[str, EventKind]] = []
        self.refusals = list(refusals)

    async def deliver(self, run_id: str, kind: EventKind) -> None:
        self.delivered.append((run_id, kind))
        if self.refusals:
            raise self.refusals.pop(0)

    def ask(self, request: InputRequest, question_id: str = "s1.1") -> None:
        question = Question(question_id, "s1", request, self.clock.time())
        self.lapsing.hear([Event("run", 1, 0.0, 0.0, InputRequested(question))])

    def need(self, **fields: Any) -> ApprovalRequest:
        approval = ApprovalRequest(
            "s1.1", ("s1",), (ToolCall("work"),), ("d",), "whole", requested_time=self.clock.time(), **fields
        )
        self.happens(ApprovalRequested("s1", approval))
        return approval

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
async def test_a_rejected_timeout_is_delivered_later(refusal: AeondError) -> None:
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


def expired(approval: ApprovalRequest) -> ApprovalDecided:
    return ApprovalDecided(approval.approval_id, False, Owner(), approval.digest, expired=True)


def suspensions(one: Lapsing) -> list[EventKind]:
    return [kind for _, kind in one.delivered if isinstance(kind, RunSuspended)]


async def test_an_approval_without_a_decision_counts_as_denied() -> None:
    """At its deadline, and not before, a watched approval is decided: not approved, without a person, and expired."""
    async with lapsing() as one:
        one.watched.add("run")
        approval = one.need(expire_seconds=60.0)
        await one.pass_by(59)
        assert one.delivered == []
        await one.pass_by(2)
        assert one.delivered == [("run", expired(approval))]


async def test_a_decided_approval_does_not_expire() -> None:
    """After a decision nothing happens any more, and nothing is tracked."""
    async with lapsing() as one:
        approval = one.need(expire_seconds=60.0)
        one.happens(ApprovalDecided(approval.approval_id, True, Owner(1, 2), approval.digest))
        await one.pass_by(1_000)
        assert (one.delivered, one.lapsing.count) == ([], 0)


async def test_an_unwatched_run_is_suspended() -> None:
    """A run that needs approval is suspended after a while, and then its approval does not expire."""
    async with lapsing() as one:
        one.need(expire_seconds=60.0)
        await one.pass_by(ATTEND_SECONDS - 1)
        assert one.delivered == []
        await one.pass_by(2)
        (suspended,) = suspensions(one)
        assert isinstance(suspended, RunSuspended)
        assert suspended.reason is SuspendReason.APPROVAL
        one.happens(suspended)
        await one.pass_by(1_000)
        assert len(one.delivered) == 1


async def test_a_run_that_is_watched_is_not_suspended() -> None:
    """A watched run waits for an answer; when its last watcher leaves, it is suspended."""
    async with lapsing() as one:
        one.watched.add("run")
        one.need()
        for _ in range(5):
            await one.pass_by(ATTEND_SECONDS + 1)
        assert one.delivered == []
        one.watched.clear()
        await one.pass_by(ATTEND_SECONDS + 1)
        assert len(suspensions(one)) == 1


async def test_an_unattended_run_is_suspended_at_once() -> None:
    """An unattended run does not wait for an answer, even if it is watched."""
    async with lapsing() as one:
        one.watched.add("run")
        one.need(unattended=True)
        await one.settled()
        assert len(suspensions(one)) == 1


async def test_a_run_with_work_in_flight_is_suspended_later() -> None:
    """While other steps of the run are in flight the suspension is refused, and tried again until it is not."""
    async with lapsing(WrongStateError("busy"), WrongStateError("busy")) as one:
        one.need()
        await one.pass_by(ATTEND_SECONDS + 1)
        await one.pass_by(RETRY_SECONDS)
        await one.pass_by(RETRY_SECONDS)
        await one.pass_by(1_000)
        assert len(suspensions(one)) == 3


@pytest.mark.parametrize("end", [CancelRequested(Owner()), RunEnded(RunState.CANCELLED)])
async def test_an_approval_of_a_run_that_ends_is_forgotten(end: EventKind) -> None:
    """A cancelled run is neither suspended nor denied anything."""
    async with lapsing() as one:
        one.need(expire_seconds=60.0)
        one.happens(end)
        await one.pass_by(1_000)
        assert (one.delivered, one.lapsing.count) == ([], 0)


@pytest.mark.parametrize(("age", "left"), [(1_000.0, 0.0), (20.0, 40.0), (-5_000.0, 60.0)])
async def test_after_a_restart_an_approval_has_its_remaining_time(age: float, left: float) -> None:
    """By the journaled time, never less than nothing and never more than the whole."""
    async with lapsing() as one:
        one.watched.add("run")
        asked_time = one.clock.time() - age
        approval = ApprovalRequest(
            "s1.1", ("s1",), (ToolCall("work"),), ("d",), "w", requested_time=asked_time, expire_seconds=60.0
        )
        step = StepSnapshot(PlanStep("s1", "work"), StepState.READY, attempt=1, approval=approval)
        run = RunSnapshot("run", state=RunState.AWAITING_INPUT, steps={"s1": step})
        one.lapsing.restore(run)
        one.lapsing.restore(run)
        if left:
            await one.pass_by(left - 0.5)
            assert one.delivered == []
            await one.pass_by(1)
        await one.settled()
        assert one.delivered == [("run", expired(approval))]
