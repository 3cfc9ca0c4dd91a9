"""Carries decisions out: allowed calls proceed, denied ones fail, and for the others a person is asked."""

from aeond.capabilities.policy.trust import Trust
from aeond.domain.policy import DecidedCall, Verdict
from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.frozen import frozen
from aeond.ports.policy import Approver, CallInspector, Decided, Policy

DENIED: str = "POLICY_DENIED"


@frozen
class PolicyAuthoriser:
    """The Authoriser of every tool call, of runs and of clients."""

    inspector: CallInspector
    policy: Policy
    approver: Approver
    trust: Trust

    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        facts = await self.inspector.inspect(call, context)
        decision = self.policy.decide(facts)
        denied = decision.verdict is Verdict.DENY
        decided(DecidedCall(facts, decision, () if denied else self.trust.sources(facts)))
        if decision.verdict is Verdict.ALLOW:
            return None
        if denied:
            error = (
                f"the policy does not allow this call ({decision.rule}: {decision.reason}); do without it, or ask the"
                " user to change the policy"
            )
            return ToolResult(False, error=error, reason=DENIED)
        return await self.approver.approve(facts, decision, context)
