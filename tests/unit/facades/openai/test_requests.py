"""Requests of the OpenAI API in the common form."""

import json
from typing import Any

import pytest

from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.parts import Said
from aeond.facades.openai.requests import ChatRequest, ResponsesRequest, read


def chat(**fields: Any) -> ChatRequest:
    given = {"model": "m", "messages": [{"role": "user", "content": "hello"}], **fields}
    return read(ChatRequest, json.dumps(given).encode())


def test_messages_become_a_conversation() -> None:
    """Roles are translated, parts of text joined, and calls and results of functions become text."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    messages = [
        {"role": "developer", "content": "rules"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
    ]
    assert chat(messages=messages).prompt().said == (
        Said("system", "rules"),
        Said("user", "a\nb"),
        Said("agent", '{"calls": [{"name": "f", "arguments": {"a": 1}}]}'),
        Said("user", "Result of f:\n42"),
    )


def test_a_response_has_instructions_before_its_input() -> None:
    """Instructions are the system message of a response, and reasoning of earlier ones is left out."""
    given = {
        "model": "m",
        "instructions": "rules",
        "input": [{"type": "reasoning"}, {"role": "user", "content": "x"}],
    }
    prompt = read(ResponsesRequest, json.dumps(given).encode()).prompt()
    assert prompt.said == (Said("system", "rules"), Said("user", "x"))


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"messages": []}, "invalid_value", "messages"),
        ({"temperature": 3}, "invalid_value", "temperature"),
        ({"n": 2}, "unsupported", "n"),
        ({"logprobs": True}, "unsupported", "logprobs"),
        ({"tools": [{"type": "custom"}]}, "unsupported", "tools.0"),
        ({"tool_choice": "all"}, "unsupported", "tool_choice"),
        ({"tool_choice": "required"}, "invalid_value", "tool_choice"),
        ({"response_format": {"type": "json_schema"}}, "invalid_value", "response_format"),
        (
            {"tools": [{"type": "custom"}], "response_format": {"type": "json_schema"}},
            "unsupported",
            "tools.0",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "unsupported",
            "messages.0.content.0",
        ),
    ],
)
def test_an_impossible_request_is_rejected(fields: dict[str, Any], code: str, param: str) -> None:
    """A request that is invalid, or asks for more than there is, is an error that names the parameter."""
    with pytest.raises(ApiError) as caught:
        chat(**fields).prompt()
    assert (caught.value.status, caught.value.code, caught.value.param) == (400, code, param)


@pytest.mark.parametrize(
    ("fields", "message", "param"),
    [
        ({"input": []}, "List should have at least 1 item after validation, not 0", "input"),
        ({"input": 3}, "Input should be a string or an array", "input"),
        (
            {"input": [{"role": "user", "content": {}}]},
            "Input should be a string or an array",
            "input.0.content",
        ),
        (
            {"input": [{"role": "user", "content": [{"text": "x"}]}]},
            "Field required",
            "input.0.content.0.type",
        ),
        ({"input": "x", "tool_choice": 3}, "Input should be a string or an object", "tool_choice"),
        ({"input": "x", "tools": [{}]}, "Field required", "tools.0.type"),
    ],
)
def test_a_parameter_with_several_forms_is_named_as_the_client_wrote_it(
    fields: dict[str, Any], message: str, param: str
) -> None:
    """The error names the path in the request, and the form that the value nearly has, or all of them."""
    with pytest.raises(ApiError) as caught:
        read(ResponsesRequest, json.dumps({"model": "m", **fields}).encode())
    assert (caught.value.message, caught.value.param) == (f"{param}: {message}.", param)
