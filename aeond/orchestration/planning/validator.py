"""Checks before anything runs: every problem with its place, none of them an exception."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from aeond.domain.outcome import Problem
from aeond.domain.plans.plan import MAX_PLAN_STEPS, Plan, PlanStep
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from aeond.orchestration.planning.step_graph import ancestors_of, cycle_in
from aeond.orchestration.planning.step_references import (
    STEP_ID,
    references_in_text,
    references_in_value,
    refers,
)
from aeond.orchestration.repair.strict_json import check_value
from aeond.ports import ToolRegistry
from aeond.schemas.checker import SchemaChecker

MAX_PROBLEMS = 50


class PlanValidator:
    """The Validator over a registry and the names of the agents there are."""

    def __init__(
        self, registry: ToolRegistry, agents: Collection[str], checker: SchemaChecker | None = None
    ) -> None:
        self._registry = registry
        self._agents = agents
        self._checker = checker or SchemaChecker()

    def over(self, registry: ToolRegistry) -> "PlanValidator":
        """The same over the tools of this registry."""
        return PlanValidator(registry, self._agents, self._checker)

    def validate_plan(self, plan: Plan) -> tuple[Problem, ...]:
        """Size, ids, actions, dependencies, cycles, references, and the arguments of registered tools.

        Paths are JSON pointers into the plan (`/steps/2/depends_on/0`). An unknown tool or agent is no
        problem of the plan: `validate_step_tool` writes it into the step, where a repair may find another.
        """
        if not plan.steps:
            return (Problem("PLAN_EMPTY", "a plan needs at least one step", "/steps"),)
        if len(plan.steps) > MAX_PLAN_STEPS:
            message = f"a plan has at most {MAX_PLAN_STEPS} steps, this one has {len(plan.steps)}"
            return (Problem("PLAN_TOO_LONG", message, "/steps"),)
        ids = {step.step_id for step in plan.steps}
        problems = list(_id_problems(plan))
        if not problems:
            problems = list(_graph_problems(plan, ids))
        for index, step in enumerate(plan.steps):
            problems.extend(self._step_problems(step, f"/steps/{index}", ids))
        return tuple(problems[:MAX_PROBLEMS])

    def validate_output(self, output: JsonValue, schema: JsonObject) -> tuple[Problem, ...]:
        """JSON that everybody can read (depth, NaN, surrogates) and that satisfies the schema."""
        unreadable = check_value(output)
        if unreadable:
            return unreadable[:MAX_PROBLEMS]
        return self._checker.check(output, schema, "OUTPUT")[:MAX_PROBLEMS]

    def validate_tool_call(self, call: ToolCall, spec: ToolSpec) -> tuple[Problem, ...]:
        """The name and the arguments; a reference to a step stands for any value."""
        if call.tool != spec.name:
            return (Problem("TOOL_MISMATCH", f"'{call.tool}' is not '{spec.name}'", "/tool"),)
        return self._argument_problems(call.arguments, spec, ())

    def validate_step_tool(self, step: PlanStep) -> PlanStep:
        errors: tuple[str, ...] = ()
        if step.tool_call is not None:
            if self._registry.get(step.tool_call.tool) is None:
                errors = (f"Tool '{step.tool_call.tool}' not found in registry",)
        elif step.agent is None:
            errors = ("The step names neither a tool nor an agent",)
        elif step.agent not in self._agents:
            errors = (f"Agent '{step.agent}' not found",)
        return replace(step, errors=errors)

    def _argument_problems(
        self, arguments: JsonObject, spec: ToolSpec | None, step_ids: Collection[str]
    ) -> tuple[Problem, ...]:
        unreadable = check_value(arguments)
        if unreadable or spec is None:
            return unreadable[:MAX_PROBLEMS]
        return self._checker.check(
            arguments, spec.input_schema, "ARGUMENT", is_pending=lambda part: refers(part, step_ids)
        )

    def _step_problems(self, step: PlanStep, path: str, step_ids: Collection[str]) -> Iterator[Problem]:
        if step.tool_call is not None and step.agent is not None:
            message = "a step calls a tool or names an agent, not both"
            yield Problem("STEP_HAS_TWO_ACTIONS", message, path)
        elif step.tool_call is not None:
            if not step.tool_call.tool:
                yield Problem("TOOL_UNNAMED", "the tool needs a name", f"{path}/tool_call/tool")
            tool = self._registry.get(step.tool_call.tool)
            spec = None if tool is None else tool.spec
            for problem in self._argument_problems(step.tool_call.arguments, spec, step_ids):
                yield replace(problem, path=f"{path}/tool_call/arguments{problem.path}")
        elif not step.agent:
            yield Problem("STEP_HAS_NO_ACTION", "a step calls a tool or names an agent", path)
        elif not step.description.strip():
            message = "a step of an agent needs a description: it is the agent's task"
            yield Problem("TASK_EMPTY", message, f"{path}/description")


def _id_problems(plan: Plan) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, step in enumerate(plan.steps):
        path = f"/steps/{index}/step_id"
        if not STEP_ID.fullmatch(step.step_id):
            message = f"{step.step_id!r:.80} is no step id: letters, digits and _, a letter first, at most 64"
            yield Problem("STEP_ID_INVALID", message, path)
        elif step.step_id in seen:
            yield Problem("STEP_ID_DUPLICATE", f"there are two steps '{step.step_id}'", path)
        seen.add(step.step_id)


def _graph_problems(plan: Plan, ids: Collection[str]) -> Iterator[Problem]:
    whole = True
    for index, step in enumerate(plan.steps):
        for place, dependency in enumerate(step.depends_on):
            if dependency not in ids:
                whole = False
                message = f"step '{step.step_id}' depends on '{dependency:.64}', which is not in the plan"
                yield Problem("DEPENDENCY_UNKNOWN", message, f"/steps/{index}/depends_on/{place}")
    if not whole:
        return
    cycle = cycle_in(plan)
    if cycle:
        message = f"these steps wait for each other: {', '.join(cycle)}"
        yield Problem("PLAN_CYCLE", message, "/steps")
        return
    yield from _reference_problems(plan, ids)


def _reference_problems(plan: Plan, ids: Collection[str]) -> Iterator[Problem]:
    ancestors = ancestors_of(plan)
    for index, step in enumerate(plan.steps):
        path = f"/steps/{index}"
        if step.tool_call is None:
            description = references_in_text(step.description, ids)
            found = [(f"{path}/description", reference) for reference in description]
        elif check_value(step.tool_call.arguments):
            continue  # too deep or no JSON: said elsewhere
        else:
            found = list(references_in_value(step.tool_call.arguments, ids, f"{path}/tool_call/arguments"))
        for where, reference in found:
            if reference.step_id not in ids:
                message = f"{reference.text} refers to step '{reference.step_id}', which is not in the plan"
                yield Problem("REFERENCE_UNKNOWN", message, where)
            elif reference.step_id not in ancestors[step.step_id]:
                message = f"{reference.text} refers to a step that '{step.step_id}' does not wait for"
                yield Problem("REFERENCE_NOT_EARLIER", message, where)
