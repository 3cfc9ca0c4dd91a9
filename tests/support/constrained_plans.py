"""Plans that a model writes under the schema of twenty tools, each checked.

The model is tiny and unconstrained otherwise, so that it writes anything the grammar permits: errors in its
plans were permitted by the engine.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import jsonschema_rs

from aeond.domain.llm import FinishReason, LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.plans.plan import LLM_AGENT
from aeond.domain.tools import Effect, ToolSpec
from aeond.orchestration.planning.plan_parsing import plan_from_model
from aeond.orchestration.planning.plan_schema import compile_plan_schema
from aeond.ports import LLMAdapter

TEXT = {"type": "string", "maxLength": 40}
SHAPES: Sequence[Mapping[str, Any]] = (
    {"text": TEXT},
    {"count": {"type": "integer", "minimum": 1, "maximum": 99}},
    {"unit": {"enum": ["metre", "second", "gram"]}, "value": {"type": "number"}},
    {"names": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 4}},
    {"deep": {"type": "boolean"}, "place": {"anyOf": [{"type": "null"}, TEXT]}},
    {
        "entry": {
            "type": "object",
            "properties": {"key": TEXT, "size": {"type": "integer"}},
            "required": ["key"],
        }
    },
)
NAMES = (
    "calculate", "translate", "list_files", "read_file", "write_file", "find_text", "weather", "convert", "remember",
    "recall", "send_mail", "open_page", "sort_names", "count_words", "draw_chart", "set_timer", "play_sound",
    "take_note", "look_up", "wait_for",
)  # fmt: skip


def tool_specs() -> tuple[ToolSpec, ...]:
    """Twenty tools, their arguments of six shapes."""
    return tuple(
        ToolSpec(
            name,
            f"Does {name}",
            {
                "type": "object",
                "properties": dict(SHAPES[number % len(SHAPES)]),
                "required": list(SHAPES[number % len(SHAPES)]),
                "additionalProperties": False,
            },
            output_schema={},
            effect=Effect.PURE,
        )
        for number, name in enumerate(NAMES)
    )


@dataclass(slots=True)
class PlanCounts:
    """Counts of the plans requested, the complete ones and those reported as cut, with a list of the faults."""

    asked: int = 0
    whole: int = 0
    cut: int = 0
    wrong: list[str] = field(default_factory=list)


async def counted_plans(llm: LLMAdapter, tasks_asked: range, *, at_once: int, max_tokens: int) -> PlanCounts:
    """Asks for a plan of each of these tasks, several at a time, and checks it against its tools."""
    specs = tool_specs()
    schema = compile_plan_schema(specs)
    validators = {spec.name: jsonschema_rs.validator_for(dict(spec.input_schema)) for spec in specs}
    whole = jsonschema_rs.validator_for(dict(schema))
    counts = PlanCounts()
    numbers = iter(tasks_asked)

    async def ask_on() -> None:
        for number in numbers:
            response = await llm.generate(
                LLMRequest(
                    (Message(Role.USER, f"Plan task {number}: use a tool or two."),),
                    max_tokens=max_tokens,
                    temperature=1.0,
                    seed=number,
                    schema=schema,
                )
            )
            counts.asked += 1
            if response.finish_reason is FinishReason.LENGTH:
                counts.cut += 1
                continue
            problem = problem_with(response.text, whole, validators)
            if problem:
                counts.wrong.append(f"{problem}: {response.text}")
            else:
                counts.whole += 1

    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(ask_on)
    return counts


def problem_with(
    text: str, whole: jsonschema_rs.Validator, validators: Mapping[str, jsonschema_rs.Validator]
) -> str:
    """The problem of a plan that was not cut; "" if there is none."""
    try:
        plan = json.loads(text)
    except ValueError:
        return "no JSON"
    if not whole.is_valid(plan):
        return "not what the schema says"
    for step in plan["steps"]:
        if step.get("agent") == LLM_AGENT:
            continue
        if step["tool"] not in validators:
            return f"unknown tool {step['tool']}"
        # A reference stands for a value that is not there yet.
        arguments = {name: value for name, value in step["arguments"].items() if not is_reference(value)}
        unknown = [
            error.message
            for error in validators[step["tool"]].iter_errors(arguments)
            if "required property" not in error.message and not is_reference(error.instance)
        ]
        if unknown:
            return unknown[0]
    read = plan_from_model(plan, tool_specs())
    return "" if read.value is not None else str(read.problem)


def is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith("$s")
