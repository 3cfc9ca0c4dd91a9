"""Replies from a sandbox are untrusted."""

import json
from typing import Any

import pytest

from aeond.capabilities.sandbox.conversing import answer_of
from aeond.capabilities.sandbox.messages import Outcome, Reply, read_head
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import RecordedEffect, ToolOutput
from aeond.domain.values import JsonObject
from aeond.errors import ToolError


def test_data_stays_data_whatever_it_looks_like() -> None:
    """A value that has the fields of a question is no question unless the reply says so."""
    looks_like_one = {"prompt": "May I?"}
    assert answer_of(Reply(looks_like_one)) is looks_like_one


def test_effects_come_beside_the_data() -> None:
    """Effects in a reply make its value an output with effects."""
    said = answer_of(Reply({"path": "a"}, effects=(("file.created", "a", "1 byte"),)))
    assert said == ToolOutput({"path": "a"}, (RecordedEffect("file.created", "a", "1 byte"),))


@pytest.mark.parametrize("value", ['{"path": "a", "path": "b"}', '[{"path": "a", "p\\u0061th": "b"}]'])
def test_a_reply_with_a_key_twice_is_refused(value: str) -> None:
    """A reply whose value has a key twice cannot be read: its meaning would depend on the reader."""
    head = Reply("VALUE").encoded().decode().replace('"VALUE"', value)
    with pytest.raises(ValueError, match="key twice"):
        read_head(head.encode())


@pytest.mark.parametrize("effects", ["x", [["a", "b"]], [["a", "b", 1]], [{}], 1])
def test_effects_of_another_shape_are_refused(effects: Any) -> None:
    """A reply whose effects are not lists of three texts cannot be read."""
    head = json.loads(Reply(1).encoded()) | {"effects": effects}
    with pytest.raises(ValueError, match="effect"):
        read_head(json.dumps(head).encode())


def test_requests_are_made_of_their_fields() -> None:
    """A question and a subtask come back as what they are, with their defaults for what is not said."""
    assert answer_of(Reply({"prompt": "May I?"}, Outcome.INPUT)) == InputRequest("May I?")
    wanted: JsonObject = {"description": "Look.", "inputs": {"text": "x"}, "hints": ["summary"]}
    assert answer_of(Reply(wanted, Outcome.SUBTASK)) == SubtaskRequest("Look.", {"text": "x"}, ("summary",))


@pytest.mark.parametrize("outcome", [Outcome.INPUT, Outcome.SUBTASK])
@pytest.mark.parametrize("value", [None, 7, [], {}, {"prompt": 7, "description": 7}])
def test_a_request_of_another_shape_is_a_failed_call(outcome: Outcome, value: Any) -> None:
    """A malformed request from a tool fails its call."""
    with pytest.raises(ToolError) as caught:
        answer_of(Reply(value, outcome))
    assert caught.value.reason == "REQUEST_INVALID"


def test_a_failure_keeps_its_words() -> None:
    """A reply with a reason is that failure, whatever else it holds, and its effects are recorded."""
    effects: list[RecordedEffect] = []
    made = (("file.created", "a", "1 byte"),)
    with pytest.raises(ToolError) as caught:
        answer_of(
            Reply("a value", effects=made, error="closed", reason="SHOP_CLOSED", retryable=True),
            effects.append,
        )
    assert effects == [RecordedEffect("file.created", "a", "1 byte")]
    assert (caught.value.message, caught.value.reason, caught.value.retryable) == (
        "closed",
        "SHOP_CLOSED",
        True,
    )
