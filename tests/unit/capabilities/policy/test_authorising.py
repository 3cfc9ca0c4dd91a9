"""How decisions are carried out."""

from dataclasses import dataclass, field

import pytest

from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.loading import parse_policy
from aeond.capabilities.policy.trust import Trust
from aeond.domain.policy import Access, CallFacts, DecidedCall, Decision, Effect, Target, TargetKind, Verdict
from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.ports.policy import Approver
from tests.support.null_objects import NoApprover
from tests.support.policy_facts import policy_text

CALL = ToolCall("remember", {"key": "a"})
CONTEXT = ToolContext("r", "s1", "c", "/home/ann")


@dataclass
class Inspected:
    """An inspector that gives these facts."""

    facts: CallFacts

    async def inspect(self, call: ToolCall, context: ToolContext) -> CallFacts:
        return self.facts


@dataclass
class Asked:
    """A person who gives this answer."""

    answer: ToolResult | None = None
    calls: list[tuple[CallFacts, Decision]] = field(default_factory=list)

    async def approve(self, facts: CallFacts, decision: Decision, context: ToolContext) -> ToolResult | None:
        self.calls.append((facts, decision))
        return self.answer


def authoriser(facts: CallFacts, profile: str = "ask", approver: Approver | None = None) -> PolicyAuthoriser:
    policy = parse_policy(policy_text(profile))
    return PolicyAuthoriser(Inspected(facts), policy, approver or NoApprover(), Trust())


async def test_an_allowed_call_proceeds_without_a_person() -> None:
    """The user is not asked about a call that the policy allows, and the decision is reported."""
    asked, decided = Asked(), list[DecidedCall]()
    checking = authoriser(CallFacts("now", Effect.READ), approver=asked)
    assert await checking.authorise(CALL, CONTEXT, decided.append) is None
    assert asked.calls == []
    assert [one.decision.verdict for one in decided] == [Verdict.ALLOW]


async def test_a_denied_call_fails_with_what_to_do_next() -> None:
    """The model gets a failed result that names the rule; the user is not asked, and nothing untrusted was read."""
    read = Target(TargetKind.HOST, "a:1", Access.USE)
    asked, decided = Asked(), list[DecidedCall]()
    checking = authoriser(CallFacts("fetch", Effect.NET, targets=(read,)), "observe", asked)
    result = await checking.authorise(CALL, CONTEXT, decided.append)
    assert result is not None
    assert (result.success, result.reason) == (False, "POLICY_DENIED")
    assert "observe.effects" in result.error
    assert asked.calls == []
    assert [(one.decision.verdict, one.adds) for one in decided] == [(Verdict.DENY, ())]


@pytest.mark.parametrize("answer", [None, ToolResult(False, error="no", reason="DENIED")])
async def test_a_person_decides_about_the_rest(answer: ToolResult | None) -> None:
    """The decision is reported before the person answers, and the answer is the outcome."""
    asked, decided = Asked(answer), list[DecidedCall]()
    facts = CallFacts("remember", Effect.MEMORY)
    assert await authoriser(facts, approver=asked).authorise(CALL, CONTEXT, decided.append) is answer
    assert [call for call, _ in asked.calls] == [facts]
    assert [one.decision.verdict for one in decided] == [Verdict.ASK]


async def test_without_a_person_the_call_fails() -> None:
    """A daemon that cannot ask carries out nothing that needs a question."""
    result = await authoriser(CallFacts("remember", Effect.MEMORY)).authorise(
        CALL, CONTEXT, list[DecidedCall]().append
    )
    assert result is not None
    assert (result.success, result.reason) == (False, "APPROVAL_UNAVAILABLE")


async def test_sources_are_reported_with_the_decision() -> None:
    """A call that reads something untrusted reports it before it reads."""
    decided = list[DecidedCall]()
    read = Target(TargetKind.FILE, "/srv/a", Access.READ, exists=True)
    await authoriser(CallFacts("read_file", Effect.READ, targets=(read,))).authorise(
        CALL, CONTEXT, decided.append
    )
    assert [one.adds for one in decided] == [("file:/srv/a",)]
