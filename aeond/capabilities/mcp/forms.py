"""Questions of MCP servers (elicitation) as questions of a run, and the answers to them."""

from typing import Any, Final

import mcp_types as types

from aeond.capabilities.mcp.foreign_text import clean, clean_schema
from aeond.domain.runs.questions import InputRequest
from aeond.domain.values import JsonValue

DECLINED: Final = "(decline)"
"""The answer that declines a question; also the default if no answer arrives in time."""

ANSWER_SECONDS: Final = 900.0
MAX_MESSAGE_CHARS: Final = 1_000
MAX_TEXT_CHARS: Final = 200


def question_of(server: str, tool: str, params: types.ElicitRequestFormParams) -> InputRequest:
    """The question. A form with one field asks for the value of that field, one with several for an object."""
    prompt = f"The MCP server {server} asks during {tool}: {clean(params.message, MAX_MESSAGE_CHARS)}"
    schema: Any = clean_schema(params.requested_schema, MAX_TEXT_CHARS)
    field = only_field(params)
    asked = schema["properties"][field] if field else {**schema, "additionalProperties": False}
    choices = asked.get("enum")
    options = (
        (*map(str, choices), DECLINED)
        if field and choices and all(isinstance(c, str) for c in choices)
        else ()
    )
    return InputRequest(
        prompt,
        schema={"anyOf": [asked, {"const": DECLINED}]},
        options=options,
        default=DECLINED,
        has_default=True,
        deadline_seconds=ANSWER_SECONDS,
        continues=True,
    )


def only_field(params: types.ElicitRequestFormParams) -> str:
    """The name of the form's only field; "" if it has several."""
    fields = params.requested_schema.get("properties", {})
    return next(iter(fields)) if len(fields) == 1 else ""


def result_of(params: types.ElicitRequestFormParams, answer: JsonValue) -> types.ElicitResult:
    """The answer as the server expects it."""
    if answer == DECLINED:
        return types.ElicitResult(action="decline")
    field = only_field(params)
    content: Any = {field: answer} if field else answer
    return types.ElicitResult(action="accept", content=content)
