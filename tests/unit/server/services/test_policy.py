"""PolicyService on the wire."""

import json

import grpc

from aeond.api.v1 import judgements_pb2, policy_pb2, tools_pb2
from tests.support.api_world import ApiWorld, Stubs, refused

ECHO = tools_pb2.ToolCall(tool="echo", arguments_json='{"text":"a"}')


async def test_the_policy_is_sent_with_its_rules(client: Stubs) -> None:
    """Each rule has its conditions as JSON."""
    answer = await client.policy.GetPolicy(policy_pb2.GetPolicyRequest())
    assert (answer.version, answer.profile, answer.file) == ("fixed-1", "ask", "")
    assert [(rule.name, json.loads(rule.conditions_json)) for rule in answer.rules] == [
        ("all", {"tools": ["*"]})
    ]


async def test_a_test_is_answered_with_the_facts(client: Stubs) -> None:
    """The decision comes with what it rests on."""
    request = policy_pb2.TestPolicyRequest(call=ECHO, workspace="/srv", taint=["host:a:1"])
    answer = await client.policy.TestPolicy(request)
    assert (answer.decision.verdict, answer.effect) == (
        judgements_pb2.POLICY_VERDICT_ALLOW,
        tools_pb2.EFFECT_READ,
    )
    facts = json.loads(answer.facts_json)
    assert (facts["taint"], facts["workspace"]) == (["host:a:1"], "/srv")


async def test_a_malformed_test_is_refused(client: Stubs) -> None:
    """A call is needed, and the list of sources is bounded."""
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, "REQUIRED", "call"):
        await client.policy.TestPolicy(policy_pb2.TestPolicyRequest())
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY", "taint"):
        await client.policy.TestPolicy(policy_pb2.TestPolicyRequest(call=ECHO, taint=["a"] * 17))


async def test_a_replay_has_both_decisions(world: ApiWorld, client: Stubs) -> None:
    """The text of the policy reaches the service, and each call comes with its arguments."""
    answer = await client.policy.ReplayPolicy(policy_pb2.ReplayPolicyRequest(run_id="r", policy="x"))
    assert world.behind.policy.replayed == [("r", "x")]
    (one,) = answer.decisions
    assert (one.step_id, one.call, one.facts_recorded) == ("s1", ECHO, True)
    assert (one.recorded.verdict, one.decided.verdict) == (
        judgements_pb2.POLICY_VERDICT_ALLOW,
        judgements_pb2.POLICY_VERDICT_DENY,
    )
