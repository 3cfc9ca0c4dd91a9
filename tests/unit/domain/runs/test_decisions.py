"""The event of a decision."""

from aeond.domain.policy import CallFacts, DecidedCall, Decision, Effect, Verdict
from aeond.domain.runs.decisions import PolicyDecided
from aeond.domain.tools import ToolCall


def test_an_event_has_the_facts_and_no_arguments() -> None:
    """The arguments are in the intent of the step already; everything else that the decision rests on is in the event."""
    facts = CallFacts("write_file", Effect.WRITE_CONTAINED, {"content": "x" * 10_000}, taint=("host:a:1",))
    decision = Decision(Verdict.ASK, "builtin.tainted-change", "it is tainted", "ask-1")
    event = PolicyDecided.of("s1", DecidedCall(facts, decision, ("file:/a",)))
    assert event.call == ToolCall("write_file")
    assert CallFacts.from_json("write_file", facts.arguments, event.facts) == facts
    assert (event.verdict, event.rule, event.reason) == (decision.verdict, decision.rule, decision.reason)
    assert (event.policy_version, event.tainted, event.adds) == ("ask-1", True, ("file:/a",))
