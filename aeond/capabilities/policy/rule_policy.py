"""Evaluates rules: the first that denies, else the first that asks, else a floor, else the first that allows."""

from collections.abc import Sequence
from typing import Final

from aeond.capabilities.policy.floors import FLOORS
from aeond.capabilities.policy.rules import Rule
from aeond.domain.policy import CallFacts, Decision, Effect, PolicyDescription, PolicyRule, Verdict

NO_RULE: Final = "no rule allows it"
UNKNOWN_TARGETS: Final = "the tool does not report what it touches, and the rule {} may concern it"


class RulePolicy:
    """The Policy over rules. The order of rules decides only which of several names is reported.

    `version` must change with the rules; `profile` and `file` describe where they come from.
    """

    def __init__(self, rules: Sequence[Rule], version: str, *, profile: str = "", file: str = "") -> None:
        self.rules = tuple(rules)
        self.profile = profile
        self.file = file
        self._version = version
        self._by_effect = {effect: _sorted_out(self.rules, effect) for effect in Effect}

    @property
    def version(self) -> str:
        return self._version

    def decide(self, facts: CallFacts) -> Decision:
        denying, asking, allowing = self._by_effect[facts.effect]
        for rule in denying:
            if rule.applies(facts):
                return self._by(rule)
        for rule in asking:
            if rule.applies(facts):
                return self._by(rule)
        if not facts.targets_known:
            for rule in (*denying, *asking):
                if rule.may_apply(facts):
                    return Decision(Verdict.ASK, rule.name, UNKNOWN_TARGETS.format(rule.name), self._version)
        for floor in FLOORS:
            if why := floor.found(facts):
                return Decision(Verdict.ASK, floor.name, why, self._version)
        for rule in allowing:
            if rule.applies(facts):
                return self._by(rule)
        return Decision(Verdict.ASK, "", NO_RULE, self._version)

    def describe(self) -> PolicyDescription:
        floors = [
            PolicyRule(one.name, Verdict.ASK, {}, f"{one.summary} are at least asked about") for one in FLOORS
        ]
        written = [PolicyRule(one.name, one.verdict, one.conditions, one.reason) for one in self.rules]
        return PolicyDescription(self._version, self.profile, self.file, (*floors, *written))

    def _by(self, rule: Rule) -> Decision:
        return Decision(rule.verdict, rule.name, rule.reason, self._version)


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


def _sorted_out(rules: Sequence[Rule], effect: Effect) -> tuple[tuple[Rule, ...], ...]:
    return tuple(
        tuple(rule for rule in rules if rule.verdict is verdict and rule.concerns(effect))
        for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW)
    )
