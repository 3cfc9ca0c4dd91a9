"""The scopes and previews of an approval."""

from dataclasses import replace

from aeond.domain.plans.approvals import ApprovalRequest, ApprovalScope
from aeond.domain.plans.tool_calls import ToolCall

REQUEST = ApprovalRequest("s1.1", ("s1", "s2"), (ToolCall("a"), ToolCall("b")), ("d1", "d2"), "d")


def test_only_scopes_that_name_something_are_offered() -> None:
    """Calls that touch no file cannot be allowed for a folder, and calls without a host not for one."""
    assert REQUEST.scopes == (ApprovalScope.ONCE, ApprovalScope.RUN)
    assert ApprovalScope.FOLDER in replace(REQUEST, folders=("/home",)).scopes
    assert ApprovalScope.HOST in replace(REQUEST, hosts=("example.org:443",)).scopes


def test_an_approval_without_a_limit_never_expires() -> None:
    """The deadline follows from the time of the request; 0 seconds stand for none."""
    assert REQUEST.expire_time == 0.0
    assert replace(REQUEST, requested_time=100.0, expire_seconds=60.0).expire_time == 160.0


def test_a_call_is_shown_with_its_step() -> None:
    """The same call in another step is another call."""
    assert REQUEST.shows("s1", "d1")
    assert not REQUEST.shows("s2", "d1")
    assert not REQUEST.shows("s3", "d3")
