"""The request_user_input tool: a step that a person answers."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.schemas.models import model_schema

MAX_PROMPT_CHARS: Final = 1_000
MAX_OPTIONS: Final = 16
MAX_OPTION_CHARS: Final = 200
MAX_DEADLINE_SECONDS: Final = 30 * 86_400


class InputArguments(BaseModel):
    """A question, and how it may be answered."""

    model_config = ConfigDict(extra="forbid")

    prompt: Annotated[str, Field(min_length=1, max_length=MAX_PROMPT_CHARS, description="The question")]
    options: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=MAX_OPTION_CHARS)]],
        Field(max_length=MAX_OPTIONS, description="The answers to choose from; leave out for any text"),
    ] = []
    default: Annotated[
        str,
        Field(
            max_length=MAX_PROMPT_CHARS, description="The answer when nobody gives one; leave out for none"
        ),
    ] = ""
    deadline_seconds: Annotated[
        float, Field(ge=0, le=MAX_DEADLINE_SECONDS, description="How long to wait; leave out for ever")
    ] = 0.0


class RequestUserInput:
    """Returns an InputRequest, and never waits itself: the run does, for as long as it takes.

    Its result is the answer as it was given, a text. After a crash it asks again unless the question stands
    in the journal already.
    """

    spec: Final = ToolSpec(
        name="request_user_input",
        description="Ask the user a question and wait for the answer; only for what nothing else can tell.",
        input_schema=model_schema(InputArguments),
        output_schema={"type": "string"},
        effect=Effect.PURE,
        example={"prompt": "Window or aisle seat?"},
        timeout_seconds=5.0,
        asks_user=True,
    )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> InputRequest:
        asked = InputArguments.model_validate(arguments)
        return InputRequest(
            prompt=asked.prompt,
            schema={"type": "string", "minLength": 1},
            options=tuple(asked.options),
            default=asked.default or None,
            has_default=bool(asked.default),
            deadline_seconds=asked.deadline_seconds,
        )

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return None
