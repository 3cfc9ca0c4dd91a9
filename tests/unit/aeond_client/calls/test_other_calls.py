"""The table of calls agrees with the contract."""

from collections.abc import Callable
from typing import Any

import pytest

from aeond_client.calls import other_calls, run_calls
from aeond_client.calls.call_spec import MAX_REQUEST_BYTES, Call, grpc_arguments
from aeond_client.calls.run_calls import ForkOptions, RunOptions
from aeond_client.errors import InvalidInputError
from aeond_client.records.runs import Resolution, RunState

ALL: list[Call[Any]] = [
    other_calls.get_status(),
    other_calls.reload_config(),
    run_calls.create_run("text", "id", RunOptions()),
    run_calls.get_run("run"),
    run_calls.list_runs([RunState.RUNNING], "", "")("", 50),
    run_calls.cancel_run("run", ""),
    run_calls.decide_run("run", Resolution.RETRY, ""),
    run_calls.answer_run("run", "red", "s1.1"),
    run_calls.fork_run("run", 1, ForkOptions(model="small"), "id"),
    run_calls.undo_run("run"),
    run_calls.delete_run("run"),
    other_calls.list_tools()("", 50),
    other_calls.get_tool("tool"),
    other_calls.call_tool("tool", {}, "", 1.0),
    other_calls.write_memory("key", 1),
    other_calls.read_fact("key"),
    other_calls.search_facts("")("", 50),
    other_calls.delete_memory("key"),
    other_calls.list_models()("", 50),
    other_calls.load_model(""),
    other_calls.unload_model(),
    other_calls.sleep_model(),
    other_calls.embed(["text"]),
    other_calls.wake_model(),
    other_calls.generate(
        [("system", "be brief"), ("user", "text")],
        max_tokens=1,
        temperature=0.0,
        schema=None,
        seconds=1.0,
        model="",
    ),
]


@pytest.mark.parametrize("call", ALL, ids=lambda call: call.method.name)
def test_each_call_sends_and_reads_what_its_method_takes_and_gives(call: Call[Any]) -> None:
    """Request and reply of each call are the messages of the method that it names."""
    assert call.request.DESCRIPTOR is call.method.input_type
    arguments = grpc_arguments(call.method)
    assert arguments["response_deserializer"](b"").DESCRIPTOR is call.method.output_type
    assert arguments["method"] == f"/{call.method.containing_service.full_name}/{call.method.name}"


@pytest.mark.parametrize("call", ALL, ids=lambda call: call.method.name)
def test_each_call_reads_an_empty_reply(call: Call[Any]) -> None:
    """A reply with nothing in it is read into a record, never into a traceback."""
    call.read(grpc_arguments(call.method)["response_deserializer"](b""))


@pytest.mark.parametrize("call", ALL, ids=lambda call: call.method.name)
def test_each_call_has_a_deadline(call: Call[Any]) -> None:
    """No call waits for ever."""
    assert 0 < call.seconds <= 60


def test_a_request_that_the_daemon_would_not_take_is_not_made() -> None:
    """A request above the daemon's limit is refused in plain words before it is sent."""
    other_calls.write_memory("key", "x" * (MAX_REQUEST_BYTES - 1_000))
    with pytest.raises(InvalidInputError) as caught:
        other_calls.write_memory("key", "x" * MAX_REQUEST_BYTES)
    assert caught.value.reason == "REQUEST_TOO_LARGE"


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda text: run_calls.create_run(text, "id", RunOptions()), "request.text"),
        (lambda text: run_calls.create_run("", "id", RunOptions(workspace=text)), "request.workspace"),
        (lambda text: run_calls.create_run("", "id", RunOptions(labels={text: ""})), "request.labels"),
        (lambda text: run_calls.create_run("", "id", RunOptions(labels={"a": text})), "request.labels"),
        (lambda text: other_calls.call_tool("tool", {}, text, 1.0), "workspace"),
        (lambda text: other_calls.write_memory(text, 1), "key"),
        (other_calls.read_fact, "key"),
        (other_calls.delete_memory, "key"),
        (other_calls.search_facts, "prefix"),
    ],
)
def test_text_that_is_no_unicode_makes_no_call(make: Callable[[str], object], field: str) -> None:
    """Text that protobuf cannot represent is rejected with its field."""
    with pytest.raises(
        InvalidInputError, match=r"^'/home/me/\\udcff' is not valid UTF-8 at character 10\.$"
    ) as caught:
        make("/home/me/\udcff")
    assert (caught.value.reason, caught.value.field) == ("NOT_UTF_8", field)


def test_a_creation_without_a_request_id_is_not_repeated() -> None:
    """A creation is safe to repeat exactly when it has a request id."""
    assert [run_calls.create_run("text", id_, RunOptions()).repeatable for id_ in ("", "mine")] == [
        False,
        True,
    ]
