"""Doubles of the policy: rules by the name of the tool, facts without looking at anything, and an invoker that asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import CallFacts, DecidedCall, Decision, Target, Verdict
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolResult
from aeond.ports.policy import Approver, Decided, ignore_decision
from tests.support.doubles import PlainInvoker, ScriptedTool


@dataclass
class AskingPolicy:
    """Decides by the tool alone; whatever is not named is allowed."""

    verdicts: Mapping[str, Verdict] = field(default_factory=lambda: {"work": Verdict.ASK})
    version: str = "v1"
    rule: str = "a rule"
    rule_if_tainted: str = ""

    def decide(self, facts: CallFacts) -> Decision:
        verdict = self.verdicts.get(facts.tool, Verdict.ALLOW)
        rule = (facts.taint and self.rule_if_tainted) or self.rule
        return Decision(verdict, rule, f"{rule} says {verdict}", self.version)


@dataclass
class NamedFacts:
    """The facts of calls: what the test says, and the folder of the run."""

    targets: Mapping[str, tuple[Target, ...]] = field(default_factory=dict)  # by the argument `on`
    taint: tuple[str, ...] = ()
    sandbox: str = ""
    code: str = ""
    workspace_id: str = "1:2"

    async def inspect(self, call: ToolCall, context: ToolContext) -> CallFacts:
        return CallFacts(
            call.tool,
            Effect.WRITE_CONTAINED,
            call.arguments,
            self.targets.get(str(call.arguments.get("on", "")), ()),
            taint=self.taint,
            workspace=context.workspace,
            workspace_id=self.workspace_id,
            sandbox=self.sandbox,
            code=self.code,
        )


async def named_preview(call: ToolCall, context: ToolContext) -> CallPreview:
    """A preview that says which call it is of."""
    return CallPreview(diff=f"+{call.tool} in {context.step_id}\n")


@dataclass
class AskingInvoker(PlainInvoker):
    """Calls a tool if the policy allows it or a person did."""

    tools: Mapping[str, ScriptedTool]
    policy: AskingPolicy
    facts: NamedFacts
    approver: Approver

    async def invoke(
        self, call: ToolCall, context: ToolContext, decided: Decided = ignore_decision
    ) -> ToolResult:
        facts = await self.facts.inspect(call, context)
        decision = self.policy.decide(facts)
        decided(DecidedCall(facts, decision))
        if decision.verdict is Verdict.DENY:
            return ToolResult(False, error=decision.reason, reason="POLICY_DENIED")
        if decision.verdict is Verdict.ASK:
            instead = await self.approver.approve(facts, decision, context)
            if instead is not None:
                return instead
        return await super().invoke(call, context)
