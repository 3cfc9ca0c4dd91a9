"""Transcripts of runs whose calls wait for approval."""

import pytest

from aeond.domain.plans.approvals import ApprovalRequest, ApprovalScope
from aeond.domain.plans.plan import StepState
from aeond.domain.runs import events as e
from aeond.domain.runs.commands import ExecuteStep, Record
from aeond.domain.runs.reservations import TOOL_STEP
from aeond.domain.runs.run import Owner, RunState, SuspendReason
from aeond.domain.tools import ToolCall
from aeond.errors import ReplayError
from tests.support.playbook import CHAIN, ONE_STEP, WAIT, Playbook, ended, executing, plan, started, tool_step

TWO = plan(tool_step("s1"), tool_step("s2"))


def request(*step_ids: str) -> ApprovalRequest:
    calls = tuple(ToolCall("echo") for _ in step_ids)
    return ApprovalRequest(f"{step_ids[0]}.1", step_ids, calls, tuple(f"d-{s}" for s in step_ids), "whole")


def needs(approval: ApprovalRequest, step_id: str = "") -> e.ApprovalRequested:
    return e.ApprovalRequested(step_id or approval.step_ids[0], approval, ONE_STEP)


def decided(approval: ApprovalRequest, approved: bool, **fields: object) -> e.ApprovalDecided:
    return e.ApprovalDecided(approval.approval_id, approved, Owner(1, 2), approval.digest, **fields)  # type: ignore[arg-type]  # a test gives the right ones


def waiting(approval: ApprovalRequest) -> Playbook:
    """The first step of a chain waits for this approval."""
    return executing(CHAIN) >> started(tool_step("s1")) >> needs(approval)


def test_a_call_that_needs_approval_waits_and_starts_again() -> None:
    """The run awaits a person, nothing starts meanwhile, and the step starts again once it is allowed."""
    approval = request("s1")
    book = waiting(approval) << WAIT
    assert (book.run.state, book.run.approvals) == (RunState.AWAITING_INPUT, (approval,))
    assert book.run.ledger.reserved.ttl == 0
    book = book >> decided(approval, True) << ExecuteStep("s1", TOOL_STEP)
    assert (book.run.state, book.run.approvals) == (RunState.RUNNING, ())
    assert [grant.scope for grant in book.run.grants] == [ApprovalScope.ONCE]


@pytest.mark.parametrize(("expired", "reason"), [(False, "APPROVAL_DENIED"), (True, "APPROVAL_EXPIRED")])
def test_a_call_that_is_denied_fails_with_its_reason(expired: bool, reason: str) -> None:
    """A denied step has failed without having run, what depends on it is skipped, and nothing was granted."""
    approval = request("s1")
    book = waiting(approval) >> decided(approval, False, expired=expired) << Record(e.PassEnded(1))
    s1, s2 = book.run.steps.values()
    assert (s1.state, s1.reason, s2.state) == (StepState.FAILED, reason, StepState.SKIPPED)
    assert book.run.grants == ()


def test_one_approval_covers_planned_steps() -> None:
    """A step that is not ready yet and is shown with the first one starts without another question, or fails with
    it."""
    approval = request("s1", "s2")
    allowed = (
        waiting(approval) >> decided(approval, True) >> started(tool_step("s1"), attempt=2) >> ended("s1")
    )
    allowed << ExecuteStep("s2", TOOL_STEP)
    denied = waiting(approval) >> decided(approval, False)
    assert {step.reason for step in denied.run.steps.values()} == {"APPROVAL_DENIED"}


def test_a_ready_step_that_is_shown_too_waits() -> None:
    """A second step that could start does not, while an approval that shows its call is open."""
    approval = request("s1", "s2")
    book = executing(TWO, 1) >> started(tool_step("s1")) >> needs(approval) << WAIT
    assert book.run.startable == ()


def test_a_step_in_flight_joins_the_approval() -> None:
    """A step that was started together with the first one waits for the same approval, which is shown once."""
    approval = request("s1", "s2")
    both = executing(TWO) >> started(tool_step("s1")) >> started(tool_step("s2")) >> needs(approval)
    joined = both >> needs(approval, "s2")
    assert joined.run.approvals == (approval,)
    joined >> decided(approval, True) << (ExecuteStep("s1", TOOL_STEP), ExecuteStep("s2", TOOL_STEP))


def test_a_step_that_joins_too_late_starts_again() -> None:
    """A step in flight that meets a decided approval is ready again: it is never left waiting for nothing."""
    approval = request("s1", "s2")
    both = executing(TWO) >> started(tool_step("s1")) >> started(tool_step("s2")) >> needs(approval)
    late = both >> decided(approval, False) >> needs(approval, "s2")
    late << ExecuteStep("s2", TOOL_STEP)
    assert late.run.approvals == ()


@pytest.mark.parametrize("digest", ["", "other"])
def test_another_digest_is_no_decision(digest: str) -> None:
    """A decision about something else than what is open cannot have happened."""
    with pytest.raises(ReplayError):
        waiting(request("s1")) >> e.ApprovalDecided("s1.1", True, Owner(), digest)


def test_the_first_decision_counts() -> None:
    """A second decision about the same approval cannot have happened."""
    approval = request("s1")
    with pytest.raises(ReplayError):
        waiting(approval) >> decided(approval, False) >> decided(approval, True)


def test_a_suspended_run_goes_on_once_it_was_decided() -> None:
    """A run without a watcher is suspended, resumes by the decision, and no crash is counted."""
    approval = request("s1")
    book = waiting(approval) >> e.RunSuspended(SuspendReason.APPROVAL) << WAIT
    book = book >> decided(approval, True) << Record(e.RunResumed())
    assert book.run.state is RunState.SUSPENDED
    book >> e.RunResumed() << ExecuteStep("s1", TOOL_STEP)
    assert (book.run.state, book.run.crashes) == (RunState.RUNNING, 0)


def test_a_run_with_work_in_flight_is_not_suspended_for_approval() -> None:
    """Other steps end first; a run without an open approval is not suspended either."""
    approval = request("s1")
    busy = executing(TWO) >> started(tool_step("s1")) >> started(tool_step("s2")) >> needs(approval)
    for book in (busy, waiting(approval) >> decided(approval, True)):
        with pytest.raises(ReplayError):
            book >> e.RunSuspended(SuspendReason.APPROVAL)


@pytest.mark.parametrize("closing", [e.CancelRequested(Owner()), e.BudgetExhausted("ttl")])
def test_whatever_ends_the_waiting_withdraws_the_approval(closing: e.EventKind) -> None:
    """A run that is cancelled or out of budget waits for no person."""
    book = waiting(request("s1", "s2")) >> closing
    assert (book.run.state, book.run.approvals) == (RunState.RUNNING, ())


def test_an_approval_survives_a_crash() -> None:
    """After a crash the approval is open as before, and waiting for it is no crash of the run."""
    approval = request("s1")
    book = waiting(approval) >> e.RunParked() >> e.RunResumed()
    assert (book.run.approvals, book.run.crashes) == ((approval,), 0)
