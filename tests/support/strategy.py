"""Fixtures for tests of the orchestration: a few tools, runs in any state, and a scripted model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepSnapshot
from aeond.domain.runs.budgets import Amounts, Grant
from aeond.domain.runs.run import PlanSource, RunRequest, RunSnapshot, RunState
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.planning.validator import PlanValidator
from tests.support.doubles import ScriptedTool


def spec(
    name: str,
    properties: JsonObject,
    required: Sequence[str] = (),
    effect: Effect = Effect.READ,
    example: JsonObject | None = None,
    definitions: JsonObject | None = None,
) -> ToolSpec:
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        "$defs": definitions or {},
    }
    return ToolSpec(name, f"The {name} tool.", schema, {"type": "object"}, effect, example=example)


TEXT: JsonObject = {"type": "string"}
ADD = spec(
    "add", {"a": {"type": "integer"}, "b": {"type": "integer"}}, ("a", "b"), Effect.PURE, {"a": 2, "b": 5}
)
LOOK = spec("look", {"path": TEXT, "depth": {"type": "integer"}}, ("path",), Effect.READ, {"path": "garden"})
STORE = spec("store", {"key": TEXT, "value": {}}, ("key", "value"), Effect.WRITE_CONTAINED)
SEND = spec("send", {"to": TEXT, "lines": {"type": "array", "items": TEXT}}, ("to",), Effect.NET)
SPECS = (ADD, LOOK, SEND, STORE)


class SpecTool(ScriptedTool):
    """A tool with a specification of its own; it is never called."""

    def __init__(self, its: ToolSpec) -> None:
        super().__init__(its.name)
        self._its = its

    @property
    def spec(self) -> ToolSpec:
        return self._its


def registry(*specs: ToolSpec) -> Registry:
    registered = Registry()
    for its in specs or SPECS:
        registered.register(SpecTool(its))
    return registered


def validator(*specs: ToolSpec) -> PlanValidator:
    return PlanValidator(registry(*specs), ("llm",))


def says(*answers: str | Mapping[str, Any], context_length: int = 8192, piece_chars: int = 8) -> ScriptedLLM:
    """A model that gives these answers one after the other; a mapping is a rule, a text its text."""
    rules = [Rule.model_validate({"text": a, "times": 1} if isinstance(a, str) else a) for a in answers]
    return ScriptedLLM(Script(rules=tuple(rules), context_length=context_length, piece_chars=piece_chars))


def grant(llm_calls: int = 10, tokens: int = 100_000) -> Grant:
    return Grant(Amounts(llm_calls=llm_calls, tokens=tokens))


def calls(step_id: str, tool: str, *depends_on: str, **arguments: JsonValue) -> PlanStep:
    return PlanStep(step_id, f"{tool} something", ToolCall(tool, arguments), depends_on=depends_on)


def thinks(step_id: str, task: str, *depends_on: str) -> PlanStep:
    return PlanStep(step_id, task, agent="llm", depends_on=depends_on)


def run_of(
    *steps: PlanStep,
    outputs: Mapping[str, JsonValue] | None = None,
    source: PlanSource = PlanSource.MODEL,
    request: str = "What grows in the garden?",
    **more: Any,
) -> RunSnapshot:
    """A run with this plan, whose steps with outputs have succeeded and whose others have not begun."""
    known = outputs or {}
    snapshots = {
        step.step_id: StepSnapshot(
            step,
            StepState.SUCCEEDED if step.step_id in known else StepState.PENDING,
            output=known.get(step.step_id),
        )
        for step in steps
    }
    return RunSnapshot(
        "run-1",
        seq=5,
        state=RunState.RUNNING,
        request=RunRequest(request),
        plan=Plan(request, steps),
        plan_source=source,
        steps=snapshots,
        **more,
    )


def ended(
    step: PlanStep,
    output: JsonValue = None,
    state: StepState = StepState.SUCCEEDED,
    error: str = "",
) -> StepSnapshot:
    """A step that ran once and ended so."""
    return StepSnapshot(step, state, attempt=1, output=output, error=error)


def run_with(*steps: StepSnapshot, request: str = "What grows in the garden?", **more: Any) -> RunSnapshot:
    """A run in the middle of its plan, whose steps stand as they are given."""
    run = run_of(*(step.step for step in steps), request=request, **more)
    return replace(run, steps={step.step_id: step for step in steps})
