"""Requests that the popup's tests type, and the scripted model that answers them."""

from pathlib import Path
from typing import Any

from aeond_client.records.runs import Plan, PlanStep
from tests.support.ledgers import Gate, deed

GATE = "walk through the gate"
NOTE = "note the colour"
FOLLOW_UP = "and the second one"
QUESTION = "ask me"
ANSWER = "Through the gate."
COLOURS = {"prompt": "Which colour?", "options": ["red", "blue"]}
NOTED = "The colour is noted."


def script_with_gate(gate: Path) -> dict[str, Any]:
    """A script in which GATE calls a tool that waits at this FIFO and NOTE changes the memory."""
    return {
        "rules": [
            {"pattern": rf"{GATE}\Z", "json": {"put": {"gate": str(gate), "seconds": 0}}},
            {"pattern": rf"{NOTE}\Z", "json": {"remember": {"key": "colour", "value": "blue"}}},
            {"contains": GATE, "json": {"answer": ANSWER}},
            {"contains": NOTE, "json": {"answer": NOTED}},
            {"json": {"answer": "All done."}},
        ]
    }


def asking(gate: Gate) -> Plan:
    """A plan that waits at the gate and then asks which colour."""
    question = PlanStep("s2", "Ask for the colour", "request_user_input", COLOURS, depends_on=("s1",))
    return Plan(QUESTION, (deed("s1", "put", gate=gate), question))
