"""Properties of every policy."""

from hypothesis import given, settings
from hypothesis import strategies as st

from aeond.capabilities.policy.loading import Profile, load_policy, parse_policy
from aeond.capabilities.policy.rule_policy import LivePolicy
from aeond.domain.policy import CallFacts, Effect, Verdict
from tests.support.policy_facts import FACTS, RULES, policy_text

RANK = {Verdict.DENY: 0, Verdict.ASK: 1, Verdict.ALLOW: 2}
LISTS = st.lists(RULES, max_size=3)
PROFILES = st.sampled_from(list(Profile))


@given(FACTS, PROFILES, LISTS, LISTS, LISTS)
@settings(max_examples=100)
def test_a_rule_that_denies_wins(
    facts: CallFacts,
    profile: str,
    deny: list[dict[str, object]],
    ask: list[dict[str, object]],
    allow: list[dict[str, object]],
) -> None:
    """A call that some rule denies is denied, whatever else the policy says."""
    alone = parse_policy(policy_text(profile, deny=deny)).decide(facts)
    together = parse_policy(policy_text(profile, deny=deny, ask=ask, allow=allow)).decide(facts)
    if alone.verdict is Verdict.DENY:
        assert together.verdict is Verdict.DENY


@given(FACTS, PROFILES, LISTS, LISTS, RULES)
@settings(max_examples=100)
def test_a_further_restriction_never_allows_more(
    facts: CallFacts,
    profile: str,
    deny: list[dict[str, object]],
    allow: list[dict[str, object]],
    more: dict[str, object],
) -> None:
    """A policy with one more rule that denies or asks decides no call more freely."""
    before = parse_policy(policy_text(profile, deny=deny, allow=allow)).decide(facts)
    denying = parse_policy(policy_text(profile, deny=[*deny, more], allow=allow)).decide(facts)
    asking = parse_policy(policy_text(profile, deny=deny, ask=[more], allow=allow)).decide(facts)
    assert RANK[denying.verdict] <= RANK[before.verdict]
    assert RANK[asking.verdict] <= RANK[before.verdict]


@given(FACTS, PROFILES, LISTS)
@settings(max_examples=100)
def test_a_call_without_an_allowing_rule_is_not_allowed(
    facts: CallFacts, profile: str, deny: list[dict[str, object]]
) -> None:
    """A call is allowed only by a rule that allows."""
    policy = parse_policy(policy_text(profile, deny=deny))
    decision = policy.decide(facts)
    allowing = {rule.name for rule in policy.rules if rule.verdict is Verdict.ALLOW}
    assert decision.verdict is not Verdict.ALLOW or decision.rule in allowing


@given(FACTS, LISTS)
@settings(max_examples=100)
def test_taint_never_allows_more(facts: CallFacts, deny: list[dict[str, object]]) -> None:
    """A run that has read untrusted data may do nothing that it could not do before."""
    rules = [{key: value for key, value in rule.items() if key != "tainted"} for rule in deny]
    policy = parse_policy(policy_text("trusted-folder", deny=rules))
    clean = policy.decide(_with_taint(facts, ()))
    tainted = policy.decide(_with_taint(facts, ("host:a:1",)))
    assert RANK[tainted.verdict] <= RANK[clean.verdict]


@given(FACTS, LISTS, LISTS)
@settings(max_examples=100)
def test_equal_arguments_in_another_order_get_the_same_decision(
    facts: CallFacts, deny: list[dict[str, object]], allow: list[dict[str, object]]
) -> None:
    """The order of a call's arguments decides nothing."""
    policy = parse_policy(policy_text("ask", deny=deny, allow=allow))
    turned = dict(reversed(list(facts.arguments.items())))
    other = CallFacts.from_json(facts.tool, turned, facts.as_json())
    assert policy.decide(other) == policy.decide(facts)


def test_the_description_lists_every_rule() -> None:
    """People see the rules that cannot be changed first, then the profile's, then the file's."""
    described = parse_policy(policy_text("observe", deny=[{"tools": ["x"]}])).describe()
    names = [rule.name for rule in described.rules]
    assert names[0].startswith("builtin.")
    assert names[-3:] == ["observe.effects", "observe.reading", "own.deny.1"]
    assert all(rule.reason for rule in described.rules)


def test_every_class_of_effects_is_decided() -> None:
    """No class of effects is missing in the tables of a policy."""
    policy = parse_policy(policy_text("ask"))
    assert {effect: policy.decide(CallFacts("t", effect)).verdict for effect in Effect} == {
        effect: Verdict.ALLOW if effect in (Effect.PURE, Effect.READ) else Verdict.ASK for effect in Effect
    }


def _with_taint(facts: CallFacts, taint: tuple[str, ...]) -> CallFacts:
    return CallFacts.from_json(facts.tool, facts.arguments, {**facts.as_json(), "taint": list(taint)})


def test_a_policy_is_replaced_as_a_whole() -> None:
    """Decisions, version and description are those of the policy that was adopted last."""
    live, strict = LivePolicy(load_policy("trusted-folder", None)), load_policy("observe", None)
    call = CallFacts("remember", Effect.MEMORY)
    assert live.decide(call).verdict is Verdict.ALLOW
    live.adopt(strict)
    assert live.decide(call).verdict is Verdict.DENY
    assert (live.version, live.describe()) == (strict.version, strict.describe())
