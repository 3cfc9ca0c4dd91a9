"""The Planner to compare with: a model that gets the tools and is asked for a plan in one flat schema.

No route, no worked example, no tie between a tool and its arguments: the way in which one would ask any model
for a whole plan. It may pass results on as `$s1` and give work to the model, as other plans may.
"""

import json
from collections.abc import Sequence
from typing import Final

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.runs.budgets import Grant
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM
from aeond.orchestration.execution.tool_visibility import offered_tools
from aeond.orchestration.interfaces import PlanDraft
from aeond.orchestration.planning.plan_parsing import plan_from_model
from aeond.orchestration.planning.plan_schema import MAX_MODEL_STEPS
from aeond.orchestration.planning.planner import MAX_PLAN_TOKENS
from aeond.orchestration.repair.strict_json import read_json
from aeond.ports import LLMAdapter, ProgressSink, ToolRegistry
from aeond.schemas.parts import as_object, closed_object, is_list

MODEL: Final = "llm"
RULES: Final = """\
You are a helpful assistant with tools. Plan how to fulfil the user's request. Reply with JSON: \
{"steps":[{"tool":NAME,"arguments":{...}},...]}. Use only these tools. "$s1" in the arguments stands for the \
result of step 1, "$s2" for that of step 2.
"""
MODEL_TOOL: Final = (
    "llm: Asks the language model to do a task with the results of the earlier steps: answer, explain, write, "
    'translate, summarise, compare.\n{"task":{"type":"string"}}'
)


class FlatPlanner:
    def __init__(self, llm: LLMAdapter, registry: ToolRegistry) -> None:
        self._llm = llm
        self._registry = registry

    async def draft(
        self, snapshot: RunSnapshot, grant: Grant, on_progress: ProgressSink
    ) -> Outcome[PlanDraft | None]:
        on_progress("planning", -1.0)
        specs = offered_tools(self._registry, snapshot)
        messages = (Message(Role.SYSTEM, rules_with(specs)), Message(Role.USER, snapshot.text))
        request = LLMRequest(messages, max_tokens=MAX_PLAN_TOKENS, schema=flat_schema(specs))
        answered = await BudgetedLLM(self._llm, grant).generate(request)
        if answered.value is None:
            return failure(answered.problem or Problem("NOT_PLANNED", "no plan"), None)
        read = read_json(answered.value.text)
        if not read.ok:
            return failure(read.problem or Problem("NOT_PLANNED", "no JSON"), None)
        plan = plan_from_model(with_agent(read.value), snapshot.text, specs)
        if plan.value is None:
            return failure(plan.problem or Problem("NOT_PLANNED", "no plan"), None)
        return success(PlanDraft(plan.value))


def rules_with(specs: Sequence[ToolSpec]) -> str:
    tools = (f"{s.name}: {s.description}\n{_compact(s.input_schema.get('properties') or {})}" for s in specs)
    return "\n".join((RULES, *tools, MODEL_TOOL))


def flat_schema(specs: Sequence[ToolSpec]) -> JsonObject:
    """`{"steps": [{"tool": one of the names, "arguments": any object}]}`."""
    names: JsonValue = [*(spec.name for spec in specs), MODEL]
    step = closed_object({"tool": {"enum": names}, "arguments": {"type": "object"}})
    return closed_object(
        {"steps": {"type": "array", "items": step, "minItems": 1, "maxItems": MAX_MODEL_STEPS}}
    )


def with_agent(plan: JsonValue) -> JsonValue:
    """The same plan, with the model as the agent that it is."""
    steps = as_object(plan).get("steps")
    return {"steps": [_step(as_object(step)) for step in steps]} if is_list(steps) else plan


def _step(step: JsonObject) -> JsonObject:
    if step.get("tool") != MODEL:
        return step
    task = as_object(step.get("arguments")).get("task")
    return {"agent": MODEL} | ({"task": task} if isinstance(task, str) else {})


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
