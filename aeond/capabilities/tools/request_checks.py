"""Checks what a tool requests in place of a result, before it is acted on."""

import math
from typing import Final

from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.errors import InvalidInputError, ToolError
from aeond.schemas.compiled import CompiledSchema
from aeond.schemas.json_size import json_size

MAX_TEXT_CHARS: Final = 4_000
MAX_OPTIONS: Final = 64
MAX_HINTS: Final = 64
MAX_INPUT_BYTES: Final = 256 * 1024
MAX_DEADLINE_SECONDS: Final = 366 * 86_400


def check_request(tool: str, request: InputRequest | SubtaskRequest) -> None:
    """Raises ToolError (reason REQUEST_INVALID) for a question that cannot be answered or shown, and for a
    subtask without a description or with inputs that are not JSON."""
    try:
        if isinstance(request, InputRequest):
            _check_question(request)
        else:
            _check_subtask(request)
    except InvalidInputError as error:
        message = f"{tool} made an invalid request: {error.message}"
        raise ToolError(message, reason="REQUEST_INVALID") from error


def _check_question(request: InputRequest) -> None:
    _check_text("the question", request.prompt)
    if not 0 <= request.deadline_seconds <= MAX_DEADLINE_SECONDS or not math.isfinite(
        request.deadline_seconds
    ):
        raise InvalidInputError("its deadline must be from 0 seconds to a year")
    if len(request.options) > MAX_OPTIONS:
        raise InvalidInputError(f"it has more than {MAX_OPTIONS} options")
    for place, option in enumerate(request.options):
        _check_text("an option", option)
        if option in request.options[:place]:
            raise InvalidInputError(f"it has the option {option!r:.80} twice")
    schema = CompiledSchema(request.schema)
    if not request.has_default:
        return
    json_size(request.default, MAX_INPUT_BYTES)
    if request.options and request.default not in request.options:
        raise InvalidInputError(f"its default {request.default!r:.80} is not one of its options")
    problems = () if request.options else schema.problems(request.default)
    if problems:
        raise InvalidInputError(f"its default does not fit its schema: {problems[0]}")


def _check_subtask(request: SubtaskRequest) -> None:
    _check_text("the description", request.description)
    if len(request.hints) > MAX_HINTS:
        raise InvalidInputError(f"it has more than {MAX_HINTS} hints")
    for hint in request.hints:
        _check_text("a hint", hint)
    json_size(request.inputs, MAX_INPUT_BYTES)


def _check_text(what: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT_CHARS:
        raise InvalidInputError(f"{what} must be text of 1 to {MAX_TEXT_CHARS} characters")
    json_size(text, 8 * MAX_TEXT_CHARS)
