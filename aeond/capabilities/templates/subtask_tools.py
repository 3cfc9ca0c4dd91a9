"""Tools whose work is done by a run of its own: each asks for one, by a Template."""

from collections.abc import Sequence

from aeond.capabilities.templates.loading import TemplateFile
from aeond.domain.subtasks import SubtaskRequest
from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.errors import InvalidInputError
from aeond.frozen import frozen

MAX_INPUT_CHARS = 60_000
"""More would not fit into any prompt: a longer text is a file that the run reads in parts."""


@frozen
class SubtaskTool:
    """The tool of one template: its arguments are the template's inputs, its result is what the run answers.

    Nothing is done here, so that after a crash it may be asked again: the run that was begun is joined.
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
            input_schema={
                "type": "object",
                "properties": properties,
                "required": list(template.inputs),
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
                "additionalProperties": False,
            },
            effect=Effect.PURE,
            example=dict(self.file.example),
            timeout_seconds=5.0,
            offered=self.offered,
        )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> SubtaskRequest:
        return SubtaskRequest(self.file.task, dict(arguments), (self.file.template.name,))

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return None


def subtask_tools(files: Sequence[TemplateFile], offered: Sequence[str]) -> Sequence[SubtaskTool]:
    """A tool for each template; models are told of those that are `offered`. InvalidInputError (field
    `tools.subtasks`, reason TEMPLATE_NOT_FOUND) for a name that no template has."""
    names = [file.template.name for file in files]
    for name in offered:
        if name not in names:
            raise InvalidInputError(
                f"there is no template {name!r}; there are: {', '.join(sorted(names))}",
                reason="TEMPLATE_NOT_FOUND",
                field="tools.subtasks",
            )
    return tuple(SubtaskTool(file, file.template.name in offered) for file in files)
