"""Facts of calls and the digests of approvals."""

from dataclasses import replace

import pytest

from aeond.domain.policy import Access, CallFacts, Origin, Target, TargetKind, call_digest
from aeond.domain.tools import Effect
from aeond.domain.values import canonical_json

FILE = Target(TargetKind.FILE, "/home/ann/a.txt", Access.WRITE, exists=True)
CALL = CallFacts(
    "write_file",
    Effect.WRITE_CONTAINED,
    {"path": "a.txt", "content": "x"},
    (FILE,),
    workspace="/home/ann",
    workspace_id="7:42:1",
    sandbox="bwrap",
    code="1",
)


def test_the_order_of_keys_does_not_change_a_digest() -> None:
    """An approval holds for the same arguments in another order."""
    assert call_digest(CALL, "v1") == call_digest(
        replace(CALL, arguments={"content": "x", "path": "a.txt"}), "v1"
    )


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, tool="append_file"),
        replace(CALL, arguments={"path": "a.txt", "content": "y"}),
        replace(CALL, workspace="/home/bob"),
        replace(CALL, workspace_id="7:43:1"),
        replace(CALL, sandbox="none"),
        replace(CALL, code="2"),
        replace(CALL, targets=(replace(FILE, name="/home/ann/.git/config"),)),
        replace(CALL, targets=(replace(FILE, kind=TargetKind.MEMORY),)),
        replace(CALL, targets=(replace(FILE, access=Access.DELETE),)),
        replace(CALL, targets=(FILE, replace(FILE, name="/home/ann/b.txt"))),
        replace(CALL, targets=()),
        replace(CALL, targets_known=False),
    ],
)
def test_another_call_has_another_digest(other: CallFacts) -> None:
    """An approval holds for no other tool, code, arguments, targets, workspace or sandbox."""
    assert call_digest(other, "v1") != call_digest(CALL, "v1")


def test_another_version_of_the_policy_has_another_digest() -> None:
    """An approval given under one policy does not hold under another."""
    assert call_digest(CALL, "v1") != call_digest(CALL, "v2")


def test_taint_and_origin_do_not_change_the_digest() -> None:
    """Taint and origin decide whether a person is asked, not what the person has approved."""
    assert call_digest(replace(CALL, taint=("web",), origin=Origin.CLIENT), "v1") == call_digest(CALL, "v1")


def test_a_file_created_meanwhile_does_not_change_the_digest() -> None:
    """A step approved with its plan may write a file that an earlier step creates."""
    for exists in (False, None):
        planned = replace(CALL, targets=(replace(FILE, exists=exists),))
        assert call_digest(planned, "v1") == call_digest(CALL, "v1")


def test_facts_are_json() -> None:
    """The facts of a call can be written into its event."""
    assert '"exists":true' in canonical_json(CALL.as_json())


def test_facts_of_an_earlier_version_have_no_code() -> None:
    """Facts are read as they were written; those of a journal without the code of tools as well."""
    facts = CALL.as_json()
    assert CallFacts.from_json(CALL.tool, CALL.arguments, facts) == CALL
    earlier = {name: value for name, value in facts.items() if name != "code"}
    assert CallFacts.from_json(CALL.tool, CALL.arguments, earlier) == replace(CALL, code="")
