"""The form of responses."""

import json
from typing import Any

from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.parts import (
    Ended,
    Failed,
    FunctionCall,
    Part,
    Started,
    StepBegan,
    StepDone,
    Text,
    Usage,
)
from aeond.facades.openai.requests import ResponsesRequest
from aeond.facades.openai.responses import ResponsesForm

STARTED = Started("x", 7)


def form(**fields: Any) -> ResponsesForm:
    return ResponsesForm(ResponsesRequest.model_validate({"model": "m", "input": "hello", **fields}))


def events(made: ResponsesForm, *parts: Part) -> list[Any]:
    """The objects of the stream, each of which is named by its event."""
    found = []
    for part in parts:
        for text in made.add(part):
            name, data = text.rstrip("\n").split("\n")
            found.append(json.loads(data.removeprefix("data: ")))
            assert name == f"event: {found[-1]['type']}"
    return found


def kinds(*parts: Part) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events(form(), *parts)]


def test_events_are_numbered_and_begin_with_the_response() -> None:
    """Events are numbered from 0 without gaps, and the first ones show the empty response."""
    found = events(form(), STARTED, Text("a"), Ended("stop"))
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    assert [event["type"] for event in found[:2]] == ["response.created", "response.in_progress"]
    response = found[0]["response"]
    assert (response["id"], response["created_at"], response["output"]) == ("resp_x", 7, [])


def test_text_is_one_message() -> None:
    """Pieces of text are deltas of one message, which is opened and closed around them."""
    assert kinds(STARTED, Text("a"), Text("b"), Ended("stop"))[2:] == [
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    *_, last = events(form(), STARTED, Text("a"), Text("b"), Ended("stop"))
    (message,) = last["response"]["output"]
    assert (message["status"], message["content"][0]["text"]) == ("completed", "ab")


def test_an_answer_without_words_is_a_message() -> None:
    """A response without words and without calls has an empty message; one with calls has none."""
    *_, last = events(form(), STARTED, Ended("stop"))
    assert last["response"]["output"][0]["content"][0]["text"] == ""
    *_, called = events(form(), STARTED, FunctionCall("c", "f", "{}"), Ended("tool_calls"))
    assert [item["type"] for item in called["response"]["output"]] == ["function_call"]


def test_a_step_is_a_reasoning_item() -> None:
    """A step is one item, also if it is started again, with a part of its summary for each report."""
    made = form()
    found = events(
        made,
        STARTED,
        StepBegan("s1", "add …"),
        StepBegan("s1", "add again"),
        StepBegan("s2", "multiply"),
        StepDone("s1", "add: succeeded"),
        StepDone("s3", "never begun: skipped"),
        Ended("stop"),
    )
    items = found[-1]["response"]["output"]
    assert [[part["text"] for part in item["summary"]] for item in items[:3]] == [
        ["add …", "add again", "add: succeeded"],
        ["multiply"],
        ["never begun: skipped"],
    ]
    assert [item["type"] for item in items] == ["reasoning"] * 3 + ["message"]
    assert {item["status"] for item in items} == {"completed"}


def test_every_item_that_is_opened_is_closed() -> None:
    """Each item is added and done once with its index, also if the response fails in the middle."""
    failed = Failed(ApiError(500, "run_failed", "x"), Usage(1, 2))
    for last in (Ended("stop"), failed):
        found = events(form(), STARTED, StepBegan("s1", "add"), Text("a"), last)
        added = [one["output_index"] for one in found if one["type"] == "response.output_item.added"]
        done = [one["output_index"] for one in found if one["type"] == "response.output_item.done"]
        assert added == sorted(done) == [0, 1]


def test_a_call_is_an_item_of_its_own() -> None:
    """The arguments of a call arrive as a delta and are complete in the item."""
    found = events(form(), STARTED, FunctionCall("c1", "f", '{"a": 1}'), Ended("tool_calls"))
    (delta,) = [one for one in found if one["type"] == "response.function_call_arguments.delta"]
    item = found[-1]["response"]["output"][0]
    assert delta["delta"] == item["arguments"] == '{"a": 1}'
    assert (item["call_id"], item["name"], delta["item_id"]) == ("c1", "f", item["id"])


def test_a_cut_answer_is_incomplete() -> None:
    """An answer that its limit of tokens ended is incomplete, with this reason."""
    response = form().whole(Ended("length"))
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert kinds(STARTED, Ended("length"))[-1] == "incomplete"


def test_a_failure_has_its_code() -> None:
    """A response that fails has the code and the message, and the tokens that were used."""
    *_, last = events(form(), STARTED, Failed(ApiError(500, "run_failed", "why"), Usage(5, 3, 1)))
    response = last["response"]
    assert (last["type"], response["status"]) == ("response.failed", "failed")
    assert response["error"] == {"code": "run_failed", "message": "why"}
    assert response["usage"]["total_tokens"] == 8


def test_the_request_is_repeated_in_the_response() -> None:
    """The response shows the parameters that it was made with."""
    tool = {"type": "function", "name": "f", "parameters": {"type": "object"}}
    response = form(instructions="be kind", tools=[tool], metadata={"a": "b"}, temperature=1).whole(
        Ended("stop")
    )
    assert (response["instructions"], response["metadata"], response["temperature"]) == (
        "be kind",
        {"a": "b"},
        1,
    )
    assert response["tools"][0]["name"] == "f"
