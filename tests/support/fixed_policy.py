"""A policy that allows everything."""

from dataclasses import dataclass, field

from aeond.domain.policy import (
    CallFacts,
    DecidedCall,
    Decision,
    Effect,
    PolicyDescription,
    PolicyReplay,
    PolicyRule,
    ReplayedDecision,
    Verdict,
)
from aeond.domain.runs.run import Caller, Owner
from aeond.domain.tools import ToolCall


@dataclass
class FixedPolicy:
    """A policy that allows everything, and has decided nothing yet."""

    replayed: list[tuple[str, str]] = field(default_factory=list)

    async def in_force(self) -> PolicyDescription:
        rule = PolicyRule("all", Verdict.ALLOW, {"tools": ["*"]}, "it is a test")
        return PolicyDescription("fixed-1", "ask", "", (rule,))

    async def test(self, call: ToolCall, workspace: str, taint: tuple[str, ...], owner: Owner) -> DecidedCall:
        facts = CallFacts(
            call.tool, Effect.READ, call.arguments, taint=taint, uid=owner.uid, workspace=workspace
        )
        return DecidedCall(facts, Decision(Verdict.ALLOW, "all", "it is a test", "fixed-1"))

    async def replay(self, run_id: str, text: str, caller: Caller) -> PolicyReplay:
        self.replayed.append((run_id, text))
        decided = Decision(Verdict.DENY, "none", "it is a test", "fixed-2")
        before = Decision(Verdict.ALLOW, "all", "it is a test", "fixed-1")
        one = ReplayedDecision("s1", "echo", {"text": "a"}, before, decided, facts_recorded=True)
        return PolicyReplay((one,), "fixed-2")
