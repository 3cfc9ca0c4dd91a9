"""Replacing the policy in force."""

from aeond.capabilities.policy.live_policy import LivePolicy
from aeond.capabilities.policy.loading import load_policy
from aeond.domain.policy import CallFacts, Effect, Verdict


def test_a_policy_is_replaced_as_a_whole() -> None:
    """Decisions, version and description are those of the policy that was adopted last."""
    live, strict = LivePolicy(load_policy("trusted-folder", None)), load_policy("observe", None)
    call = CallFacts("remember", Effect.MEMORY)
    assert live.decide(call).verdict is Verdict.ALLOW
    live.adopt(strict)
    assert live.decide(call).verdict is Verdict.DENY
    assert (live.version, live.describe()) == (strict.version, strict.describe())
