"""Answers of a model, without a run: plain text, JSON by a schema, or calls of the client's functions.

The daemon's API has neither functions nor their results. Their descriptions are therefore part of the prompt, the
answer is JSON by a schema of all possible calls, and a result is a message of the user.
"""

import json
from collections.abc import AsyncGenerator
from typing import Any, Final

from aeond.facades.openai.failures import ApiError, invalid, unsupported
from aeond.facades.openai.parts import Ended, FunctionCall, Part, Prompt, Said, Started, Text, Usage
from aeond_client import AsyncClient
from aeond_client.records.models import TextPiece

ANSWER_SECONDS: Final = 900.0
MAX_CALLS: Final = 16

_RULES: Final = """\
You can call functions. Each line describes one, with a JSON schema of its arguments:
{functions}
To call functions, reply with {{"calls": [{{"name": NAME, "arguments": OBJECT}}]}}; their results follow. {otherwise}"""
_OTHERWISE: Final = 'To answer, reply with {"text": ANSWER}.'


async def answered(client: AsyncClient, prompt: Prompt, started: Started) -> AsyncGenerator[Part, None]:
    """`started`, then the answer in pieces; one with functions arrives as a whole. AeondError, ApiError."""
    if prompt.previous:
        raise unsupported(
            f"{prompt.model} keeps no conversations: send all of it as the input, or use the model aeond.",
            "previous_response_id",
        )
    functions = prompt.functions if prompt.choice != "none" else ()
    if functions and prompt.schema is not None:
        raise unsupported("Functions and a format of the answer exclude each other.", "tools")
    schema = call_schema(prompt) if functions else prompt.schema
    said = with_rules(prompt) if functions else prompt.said
    pieces = client.chat(
        [(one.role, one.text) for one in said],
        max_tokens=prompt.max_tokens,
        temperature=prompt.temperature,
        schema=schema,
        timeout_seconds=ANSWER_SECONDS,
        model=prompt.model,
        stop=prompt.stop,
        seed=prompt.seed,
    )
    whole = ""
    last = TextPiece("")
    begun = False
    async for piece in pieces:
        if not begun:  # not earlier: an error before the first part is the status of the response
            yield started
            begun = True
        last = piece
        if functions:
            whole += piece.text
        elif piece.text:
            yield Text(piece.text)
    usage = Usage(last.prompt_tokens, last.completion_tokens, last.cached_tokens)
    finish = Ended("length" if last.finish_reason == "length" else "stop", usage)
    if functions:
        calls, text = read_calls(whole, started.name, cut=finish.finish == "length")
        if text:
            yield Text(text)
        for call in calls:
            yield call
        if calls:
            finish = Ended("tool_calls", usage)
    yield finish


def with_rules(prompt: Prompt) -> tuple[Said, ...]:
    """The conversation with the functions in its system message."""
    lines = [
        json.dumps(
            {"name": one.name, "description": one.description, "arguments": one.parameters},
            ensure_ascii=False,
        )
        for one in prompt.functions
    ]
    may_answer = prompt.choice == "auto"
    rules = _RULES.format(functions="\n".join(lines), otherwise=_OTHERWISE if may_answer else "").rstrip()
    first, *rest = prompt.said
    if first.role == "system":
        return Said("system", f"{first.text}\n\n{rules}"), *rest
    return Said("system", rules), first, *rest


def call_schema(prompt: Prompt) -> dict[str, Any]:
    """The JSON schema of all answers that the choice of the client allows. ApiError for a function that does not exist."""
    wanted = prompt.choice.removeprefix("function:") if prompt.choice.startswith("function:") else ""
    functions = [one for one in prompt.functions if wanted in {"", one.name}]
    if not functions:
        raise invalid(f"tool_choice names the function {wanted}, which is not in tools.", "tool_choice")
    calls = {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_CALLS if prompt.parallel and not wanted else 1,
        "items": _one_of(
            [_closed({"name": {"const": one.name}, "arguments": one.parameters}) for one in functions]
        ),
    }
    shapes = [_closed({"calls": calls})]
    if prompt.choice == "auto":
        shapes.append(_closed({"text": {"type": "string"}}))
    return _one_of(shapes)


def _one_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_calls(answer: str, name: str, *, cut: bool) -> tuple[list[FunctionCall], str]:
    """The calls, with ids made of `name`, or the text. ApiError if the answer is neither, as one that was `cut` by its limit of tokens."""
    try:
        found = json.loads(answer)
        if "text" in found:
            return [], str(found["text"])
        return [
            FunctionCall(
                f"call_{name}_{index}", one["name"], json.dumps(one["arguments"], ensure_ascii=False)
            )
            for index, one in enumerate(found["calls"])
        ], ""
    except (ValueError, KeyError, TypeError) as error:
        if cut:
            message = "The limit of tokens ended the answer within a function call: raise max_tokens."
            raise ApiError(400, "max_tokens_reached", message, param="max_tokens") from error
        raise ApiError(
            502, "model_output_invalid", "The model wrote no call of a function and no answer: send it again."
        ) from error


def shown_calls(calls: list[tuple[str, str]]) -> str:
    """Earlier calls (name, arguments as JSON text) as the model wrote them."""
    written = ", ".join(
        f'{{"name": {json.dumps(name)}, "arguments": {arguments or "{}"}}}' for name, arguments in calls
    )
    return f'{{"calls": [{written}]}}'


def shown_result(call_id: str, name: str, text: str) -> Said:
    """The result of a function as a message."""
    return Said("user", f"Result of {name or call_id}:\n{text}")
