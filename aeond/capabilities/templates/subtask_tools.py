"""Tools that start a child run from a Template."""

from collections.abc import Sequence
from typing import Final

from aeond.capabilities.templates.loading import TemplateFile
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import InvalidInputError
from aeond.frozen import frozen
from aeond.ports import Tool
from aeond.schemas.parts import closed_object

DELEGATE = "delegate"
MAX_TASK_CHARS = 2_000
MAX_KINDS = 24
"""The description of `delegate` names up to so many templates."""
MAX_INPUT_CHARS = 60_000
"""More would not fit into a prompt: put a longer text into a file, which the run reads in parts."""

_TASK: Final[JsonObject] = {
    "task": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_TASK_CHARS,
        "description": "What is to be done, in full sentences",
    },
    "text": {
        "type": "string",
        "maxLength": MAX_INPUT_CHARS,
        "description": "The text to work on, or the result of an earlier step that holds it",
    },
}
_ANSWER: Final = closed_object({"answer": {"type": "string"}})


@frozen
class SubtaskTool:
    """The tool of one template: its arguments are the template's inputs, its result is the run's answer.

    The tool itself has no effect, so it may be repeated after a crash: the run that was started is joined.
    """

    file: TemplateFile
    offered: bool = True

    @property
    def spec(self) -> ToolSpec:
        template = self.file.template
        properties: JsonObject = {
            name: {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_INPUT_CHARS,
                "description": self.file.input_descriptions[name],
            }
            for name in template.inputs
        }
        return ToolSpec(
            name=template.name,
            description=template.description,
            input_schema=closed_object(properties),
            output_schema=_ANSWER,
            effect=Effect.PURE,
            example=dict(self.file.example),
            timeout_seconds=5.0,
            offered=self.offered,
        )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> SubtaskRequest:
        return SubtaskRequest(self.file.task, dict(arguments), (self.file.template.name,))

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return None


@frozen
class DelegateTool:
    """Starts a subtask that is described in words: the template is found by meaning.

    Nothing is done here either. With no template that fits, no run is started and the call fails.
    """

    kinds: tuple[str, ...]

    @property
    def spec(self) -> ToolSpec:
        kinds = ", ".join(self.kinds[:MAX_KINDS])
        return ToolSpec(
            name=DELEGATE,
            description=f"Hands work to an assistant that has instructions for it: {kinds}.",
            input_schema={**closed_object(_TASK), "required": ["task"]},
            output_schema=_ANSWER,
            effect=Effect.PURE,
            example={"task": "Sum up the minutes of the choir's meeting in three sentences.", "text": "$s1"},
            timeout_seconds=5.0,
            asks_model=True,
        )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> SubtaskRequest:
        parts = [arguments.get("task"), arguments.get("text")]
        description = "\n\n".join(part for part in parts if isinstance(part, str) and part)
        return SubtaskRequest(description)

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return None


def subtask_tools(files: Sequence[TemplateFile], offered: Sequence[str]) -> Sequence[Tool]:
    """A tool for each template, listed to models if it is in `offered`, and `delegate` if it is in `offered`: the name
    stays free for a user's own tool otherwise. InvalidInputError (field `tools.subtasks`, reason
    TEMPLATE_NOT_FOUND) for an unknown template.
    """
    names = [file.template.name for file in files]
    for name in offered:
        if name not in {*names, DELEGATE}:
            raise InvalidInputError(
                f"template {name!r} does not exist; existing templates are {', '.join(sorted(names))}, and {DELEGATE}",
                reason="TEMPLATE_NOT_FOUND",
                field="tools.subtasks",
            )
    tools = [SubtaskTool(file, file.template.name in offered) for file in files]
    delegate = (DelegateTool(tuple(sorted(names))),) if DELEGATE in offered else ()
    return (*tools, *delegate)
