"""The policy in force, which a reload replaces as a whole."""

from aeond.capabilities.policy.rule_policy import RulePolicy
from aeond.domain.policy import CallFacts, Decision, PolicyDescription


class LivePolicy:
    """A Policy that passes each decision to the current RulePolicy."""

    def __init__(self, policy: RulePolicy) -> None:
        self.current = policy

    @property
    def version(self) -> str:
        return self.current.version

    def decide(self, facts: CallFacts) -> Decision:
        return self.current.decide(facts)

    def describe(self) -> PolicyDescription:
        return self.current.describe()

    def adopt(self, policy: RulePolicy) -> None:
        """Decides by this policy from now on."""
        self.current = policy
