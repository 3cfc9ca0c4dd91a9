# Generated from protos/ by `make proto`; never edited.
"""Converts messages of policy.proto to records."""

from aeond.api.v1 import judgements_pb2, policy_pb2, tools_pb2
from aeond_client.calls import values
from aeond_client.records import policy


def policy_decision(wire: policy_pb2.PolicyDecision) -> policy.PolicyDecision:
    return policy.PolicyDecision(
        verdict=values.chosen(judgements_pb2.PolicyVerdict, wire.verdict),
        rule=wire.rule,
        reason=wire.reason,
        version=wire.version,
    )


def policy_rule(wire: policy_pb2.PolicyRule) -> policy.PolicyRule:
    return policy.PolicyRule(
        name=wire.name,
        verdict=values.chosen(judgements_pb2.PolicyVerdict, wire.verdict),
        conditions=values.json_object(wire.conditions_json),
        reason=wire.reason,
    )


def policy_in_force(wire: policy_pb2.GetPolicyResponse) -> policy.PolicyInForce:
    return policy.PolicyInForce(
        version=wire.version, profile=wire.profile, file=wire.file, rules=tuple(map(policy_rule, wire.rules))
    )


def hypothetical_decision(wire: policy_pb2.TestPolicyResponse) -> policy.HypotheticalDecision:
    return policy.HypotheticalDecision(
        decision=policy_decision(wire.decision),
        effect=values.word(tools_pb2.Effect, wire.effect),
        facts=values.json_object(wire.facts_json),
    )


def replayed_decision(wire: policy_pb2.ReplayedDecision) -> policy.ReplayedDecision:
    return policy.ReplayedDecision(
        step_id=wire.step_id,
        tool=wire.call.tool,
        arguments=values.json_object(wire.call.arguments_json),
        recorded=policy_decision(wire.recorded) if wire.HasField("recorded") else None,
        decided=policy_decision(wire.decided) if wire.HasField("decided") else None,
        facts_recorded=wire.facts_recorded,
    )


def policy_replay(wire: policy_pb2.ReplayPolicyResponse) -> policy.PolicyReplay:
    return policy.PolicyReplay(decisions=tuple(map(replayed_decision, wire.decisions)), version=wire.version)
