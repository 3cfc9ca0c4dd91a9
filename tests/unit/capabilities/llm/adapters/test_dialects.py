"""Bodies of requests as different servers understand them."""

from typing import Any

import pytest

from aeond.capabilities.llm.adapters.dialects import (
    LlamaDialect,
    PlainDialect,
    VllmDialect,
    guessed_tokens,
)
from aeond.domain.llm import LLMRequest, ToolChoice, ToolSchema
from aeond.domain.messages import Message, ModelToolCall, Role
from aeond.errors import InvalidInputError
from aeond.schemas.engine_core import is_strict

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer", "multipleOf": 2}},
    "required": ["a"],
}
ASKED = LLMRequest((Message(Role.USER, "Hi"),), max_tokens=9, seed=3, stop=("x",), schema=SCHEMA)


def test_each_server_gets_the_schema_in_its_own_form() -> None:
    """The schema, compiled to what all enforce, goes under the name that the server knows, and no other."""
    core = {**SCHEMA, "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    plain = PlainDialect("m", schemas=True).body(ASKED)
    named = {"name": "answer", "schema": core, "strict": True}
    assert plain["response_format"] == {"type": "json_schema", "json_schema": named}
    vllm = VllmDialect("m", schemas=True).body(ASKED)
    assert {key: vllm["structured_outputs"]["json"][key] for key in core} == core
    unguided = LlamaDialect("m", schemas=True, guided=False).body(ASKED)
    assert unguided["response_format"] == plain["response_format"]
    guided = LlamaDialect("m", schemas=True, guided=True).body(ASKED)
    assert guided["grammar"].startswith("%llguidance")
    names = ("grammar", "response_format", "structured_outputs")
    for body in (plain, vllm, unguided, guided):
        assert sum(name in body for name in names) == 1
        assert (body["model"], body["max_tokens"], body["seed"], body["stop"]) == ("m", 9, 3, ["x"])


def test_a_schema_that_no_server_enforces_is_refused_everywhere() -> None:
    """A schema outside the common core is refused before it is sent, for every server."""
    asked = LLMRequest(ASKED.messages, schema={"allOf": [{"type": "object"}, {"type": "string"}]})
    for dialect in (PlainDialect("m", True), VllmDialect("m", True), LlamaDialect("m", True, guided=False)):
        with pytest.raises(InvalidInputError):
            dialect.body(asked)


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({"type": "object", "properties": {}, "required": [], "additionalProperties": False}, True),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"anyOf": [{"type": "null"}]}, False),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "object"}}},
                "required": ["a"],
                "additionalProperties": False,
            },
            False,
        ),
    ],
)
def test_to_the_letter_is_asked_for_where_it_is_possible(schema: dict[str, Any], strict: bool) -> None:
    """A schema is called strict only when every object in it requires all that it names and nothing else."""
    assert is_strict(schema) is strict


def test_a_guess_grows_with_the_text() -> None:
    """A longer text is never counted as fewer tokens, and bytes count, not letters."""
    one, two = Message(Role.USER, "abc"), Message(Role.USER, "日本語")
    assert guessed_tokens((one,)) < guessed_tokens((two,)) < guessed_tokens((one, two))


def test_tools_are_offered_in_the_same_words_everywhere() -> None:
    """Every server gets the tools, the choice and the calls so far in the common form, one call at a time."""
    history = (
        Message(Role.USER, "Hi"),
        Message(Role.AGENT, "", tool_calls=(ModelToolCall("now", "{}", "call00000"),)),
        Message(Role.TOOL, "noon", call_id="call00000"),
    )
    tool = ToolSchema("now", "The time.", {"type": "object", "properties": {}})
    asked = LLMRequest(history, tools=(tool,), tool_choice=ToolChoice.REQUIRED)
    for dialect in (PlainDialect("m", True), VllmDialect("m", True), LlamaDialect("m", True, guided=True)):
        body = dialect.body(asked)
        function = {"name": "now", "description": "The time.", "parameters": tool.parameters}
        assert body["tools"] == [{"type": "function", "function": function}]
        assert (body["tool_choice"], body["parallel_tool_calls"]) == ("required", False)
        call = {"id": "call00000", "type": "function", "function": {"name": "now", "arguments": "{}"}}
        assert body["messages"][1:] == [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "noon", "tool_call_id": "call00000"},
        ]


def test_a_request_without_tools_names_none() -> None:
    """Servers that have no tools never see the fields."""
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(PlainDialect("m", True).body(ASKED))
