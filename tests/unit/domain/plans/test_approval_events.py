"""The events of approvals."""

import pytest

from aeond.domain.plans.approval_events import ApprovalDecided, ApprovalRequested
from aeond.domain.plans.approvals import ApprovalRequest
from aeond.domain.plans.tool_calls import ToolCall
from aeond.domain.runs.run import Owner

REQUEST = ApprovalRequest("s1.1", ("s1", "s2"), (ToolCall("a"), ToolCall("b")), ("d1", "d2"), "d")


def test_the_first_step_opens_an_approval() -> None:
    """Events of further steps say that they wait for the same one."""
    assert ApprovalRequested("s1", REQUEST).opens
    assert not ApprovalRequested("s2", REQUEST).opens


@pytest.mark.parametrize(("expired", "reason"), [(False, "APPROVAL_DENIED"), (True, "APPROVAL_EXPIRED")])
def test_a_refusal_says_what_happened(expired: bool, reason: str) -> None:
    """A denial and a time that ran out have different reasons, and both say that nothing was carried out."""
    refusal = ApprovalDecided("s1.1", False, Owner(), "d", expired=expired).refusal
    assert refusal.reason == reason
    assert "not carried out" in refusal.message
