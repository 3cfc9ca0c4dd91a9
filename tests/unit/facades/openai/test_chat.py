"""The form of chat completions."""

import json
from typing import Any

from aeond.facades.openai.chat import LAST, ChatForm
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

CALL = FunctionCall("c1", "f", '{"a": 1}')


def events(form: ChatForm, *parts: Part) -> list[Any]:
    """The objects of the stream, without its last line."""
    lines = [line for part in parts for line in form.add(part) if line != LAST]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def deltas(form: ChatForm, *parts: Part) -> list[Any]:
    return [event["choices"][0]["delta"] for event in events(form, *parts)]


def test_a_stream_is_chunks_of_one_completion() -> None:
    """Every chunk has the id, time and model of the completion; the first has the role, the last the reason of its end."""
    chunks = events(ChatForm("m"), Started("x", 7), Text("a"), Text("b"), Ended("stop"))
    assert {(one["id"], one["created"], one["model"], one["object"]) for one in chunks} == {
        ("chatcmpl-x", 7, "m", "chat.completion.chunk")
    }
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [one["choices"][0]["finish_reason"] for one in chunks] == [None, None, None, "stop"]


def test_the_stream_ends_with_its_mark() -> None:
    """The line that clients wait for comes after the last chunk, and not after an error."""
    assert list(ChatForm("m").add(Ended("stop")))[-1] == LAST
    assert LAST not in list(ChatForm("m").add(Failed(ApiError(500, "internal", "x"))))


def test_steps_are_reasoning() -> None:
    """Steps are pieces of `reasoning_content`, in chunks and in the whole, and no part of the answer."""
    form = ChatForm("m")
    parts = (Started("x", 0), StepBegan("r/s1", "add"), StepDone("r/s1", "add: succeeded"), Text("2"))
    pieces = [one.get("reasoning_content", "") for one in deltas(form, *parts)]
    message = form.whole(Ended("stop"))["choices"][0]["message"]
    assert message["reasoning_content"] == "".join(pieces) == "add …\nadd: succeeded\n"
    assert message["content"] == "2"


def test_calls_have_no_content() -> None:
    """An answer that only calls functions has the content null, and its calls are numbered in the stream."""
    form = ChatForm("m")
    started, *called = deltas(form, Started("x", 0), CALL, CALL)
    assert started["role"] == "assistant"
    assert [one["tool_calls"][0]["index"] for one in called] == [0, 1]
    choice = form.whole(Ended("tool_calls"))["choices"][0]
    function = {"name": "f", "arguments": '{"a": 1}'}
    assert choice["message"]["tool_calls"] == [{"id": "c1", "type": "function", "function": function}] * 2
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")


def test_an_answer_without_words_is_empty_text() -> None:
    """Without words and without calls the content is empty text: clients expect a string."""
    form = ChatForm("m")
    events(form, Started("x", 0))
    assert form.whole(Ended("stop"))["choices"][0]["message"]["content"] == ""


def test_usage_is_a_chunk_if_it_is_wanted() -> None:
    """Tokens are counted in the whole always, and in a stream only if the request asks for them."""
    end = Ended("stop", Usage(5, 3, 2))
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 3,
        "total_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 2},
    }
    assert ChatForm("m").whole(end)["usage"] == usage
    *_, last = events(ChatForm("m", wants_usage=True), end)
    assert (last["choices"], last["usage"]) == ([], usage)
    assert all("usage" not in one for one in events(ChatForm("m"), end))


def test_an_error_within_a_stream_is_an_event() -> None:
    """An error after the first chunk has the body that it would have alone."""
    error = ApiError(503, "llm_gone", "The engine has died.")
    assert events(ChatForm("m"), Failed(error)) == [error.body]
