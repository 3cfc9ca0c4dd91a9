"""Tools whose work is done by a run of its own: each asks for one, by a Template."""

from collections.abc import Mapping
from dataclasses import dataclass

from aeond.domain.subtasks import SubtaskRequest, Template
from aeond.domain.tools import Effect, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, JsonValue

MAX_INPUT_CHARS = 60_000
"""More would not fit into any prompt: a longer text is a file that the run reads in parts."""


@dataclass(frozen=True, slots=True)
class SubtaskTool:
    """The tool of one template: its arguments are the template's inputs, its result is what the run answers.

    Nothing is done here, so that after a crash it may be asked again: the run that was begun is joined.
    """

    template: Template
    task: str
    input_descriptions: Mapping[str, str]
    example: Mapping[str, str]

    @property
    def spec(self) -> ToolSpec:
        properties: JsonObject = {
            name: {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_INPUT_CHARS,
                "description": self.input_descriptions[name],
            }
            for name in self.template.inputs
        }
        return ToolSpec(
            name=self.template.name,
            description=self.template.description,
            input_schema={
                "type": "object",
                "properties": properties,
                "required": list(self.template.inputs),
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
                "additionalProperties": False,
            },
            effect=Effect.PURE,
            example=dict(self.example),
            timeout_seconds=5.0,
        )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> SubtaskRequest:
        return SubtaskRequest(self.task, dict(arguments), (self.template.name,))

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return None
