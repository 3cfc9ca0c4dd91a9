"""A rule: conditions on the facts of a call, and the verdict about the calls that satisfy all of them."""

from collections.abc import Callable, Mapping
from dataclasses import field

from aeond.domain.policy import CallFacts, Effect, Origin, Target, TargetKind, Verdict
from aeond.domain.values import JsonObject
from aeond.frozen import frozen

TargetTest = Callable[[Target, CallFacts], bool]


@frozen
class Rule:
    """A condition that is None, or a kind of target without a test, is always satisfied.

    A rule that restricts (DENY, ASK) applies if one target of the call satisfies a test. A rule that allows applies only
    if every target of that kind satisfies it and all targets of the call are known. `conditions` shows the rule to
    people; empty conditions match every call.
    """

    name: str
    verdict: Verdict
    reason: str
    conditions: JsonObject = field(default_factory=dict)
    tools: Callable[[str], bool] | None = None
    effects: frozenset[Effect] | None = None
    targets: Mapping[TargetKind, TargetTest] = field(default_factory=dict)
    tainted: bool | None = None
    origins: frozenset[Origin] | None = None
    uids: frozenset[int] | None = None

    def concerns(self, effect: Effect) -> bool:
        """Whether the rule can apply to calls of this class. An undeclared class may be any of those restricted."""
        if self.effects is None or effect in self.effects:
            return True
        return effect is Effect.UNDECLARED and self.verdict is not Verdict.ALLOW

    def applies(self, facts: CallFacts) -> bool:
        """For a call of a class that the rule concerns."""
        if not self._fits(facts):
            return False
        if self.verdict is Verdict.ALLOW and self.targets:
            return facts.targets_known and all(
                self._covers(kind, test, facts) for kind, test in self.targets.items()
            )
        for kind, test in self.targets.items():  # a loop: generators would take twice the time
            for target in facts.targets:
                if target.kind is kind and test(target, facts):
                    break
            else:
                return False
        return True

    def may_apply(self, facts: CallFacts) -> bool:
        """Whether it depends on targets that the call does not report."""
        return bool(self.targets) and not facts.targets_known and self._fits(facts)

    def _fits(self, facts: CallFacts) -> bool:
        return (
            (self.tainted is None or self.tainted == facts.tainted)
            and (self.tools is None or self.tools(facts.tool))
            and (self.origins is None or facts.origin in self.origins)
            and (self.uids is None or facts.uid in self.uids)
        )

    @staticmethod
    def _covers(kind: TargetKind, test: TargetTest, facts: CallFacts) -> bool:
        touched = [target for target in facts.targets if target.kind is kind]
        return bool(touched) and all(test(target, facts) for target in touched)
