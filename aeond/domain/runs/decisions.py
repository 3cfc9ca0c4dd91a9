"""The event of a decision of the policy."""

from dataclasses import field

from aeond.domain.policy import DecidedCall, Effect, Verdict
from aeond.domain.tools import ToolCall
from aeond.domain.values import JsonObject
from aeond.frozen import frozen


@frozen
class PolicyDecided:
    """The policy decided about the call of a step. It is recorded with the outcome of the call. A call that only
    computes and is allowed has its decision in StepEnded.

    `call` has no arguments here: they are in StepStarted. `facts` are those of CallFacts.as_json. `adds` names the untrusted sources that the
    call reads: they taint the run from here on. `rule` is "" if no rule matched.
    """

    step_id: str
    call: ToolCall
    verdict: Verdict
    effect: Effect
    rule: str = ""
    reason: str = ""
    policy_version: str = ""
    tainted: bool = False
    facts: JsonObject = field(default_factory=dict)
    adds: tuple[str, ...] = ()

    @classmethod
    def of(cls, step_id: str, decided: DecidedCall) -> "PolicyDecided":
        facts, decision = decided.facts, decided.decision
        return cls(
            step_id,
            ToolCall(facts.tool),
            decision.verdict,
            facts.effect,
            decision.rule,
            decision.reason,
            decision.version,
            facts.tainted,
            facts.as_json(),
            decided.adds,
        )
