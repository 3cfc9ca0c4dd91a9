"""Plans as they come: what a model writes, and what a client gives."""

from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.copying import replace
from aeond.domain.plans.plan import MAX_PLAN_STEPS, Plan, PlanStep
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.domain.values import JsonValue, display_json
from aeond.orchestration.planning.step_references import references_in_text, references_in_value
from aeond.orchestration.prompts.run_prompts import WHOLE_REQUEST
from aeond.schemas.parts import as_object, is_list

MAX_DESCRIPTION_CHARS: Final = 160

_HARMLESS: Final = (Effect.PURE, Effect.READ)


def plan_from_model(value: JsonValue, specs: Sequence[ToolSpec]) -> Outcome[Plan | None]:
    """A plan without a goal, of steps s1, s2, ... from `{"steps": [{"tool", "arguments"} | {"agent", "task"}]}`.

    Dependencies are derived from the references in the steps and from the tools' effects; the last step, where
    it is an agent's, gets every result that no other step waits for, since it was fetched for something. Checks
    the shape only; the rest is the Validator's.
    """
    steps = as_object(value).get("steps")
    if not is_list(steps) or not steps:
        return failure(Problem("PLAN_SHAPE", "a plan is an object with a list of steps", "/steps"), None)
    if len(steps) > MAX_PLAN_STEPS:
        message = f"a plan has at most {MAX_PLAN_STEPS} steps, this one has {len(steps)}"
        return failure(Problem("PLAN_TOO_LONG", message, "/steps"), None)
    read: list[PlanStep] = []
    for index, item in enumerate(steps):
        entry = as_object(item)
        step_id = f"s{index + 1}"
        tool, arguments, agent = entry.get("tool"), entry.get("arguments", {}), entry.get("agent")
        task = entry.get("task", WHOLE_REQUEST)
        if isinstance(tool, str) and tool and isinstance(arguments, Mapping) and agent is None:
            call = ToolCall(tool, arguments)
            read.append(PlanStep(step_id, describe_call(call), tool_call=call))
        elif isinstance(agent, str) and agent and isinstance(task, str) and tool is None:
            read.append(PlanStep(step_id, task.strip() or WHOLE_REQUEST, agent=agent))
        else:
            message = "a step is a tool with arguments, or an agent with a task"
            return failure(Problem("STEP_SHAPE", message, f"/steps/{index}"), None)
    return success(Plan("", _gathered(derive_dependencies(read, specs))))


def derive_dependencies(steps: Sequence[PlanStep], specs: Sequence[ToolSpec]) -> tuple[PlanStep, ...]:
    """What each step waits for: the steps it refers to, and the order that effects demand.

    A step that changes something waits for all earlier steps that change or look at something, a step
    that looks waits for the earlier changes; an unknown tool is taken to change something. A step of an
    agent that refers to nothing speaks about everything before it.
    """
    effects = {spec.name: spec.effect for spec in specs}
    ids = [step.step_id for step in steps]
    derived: list[PlanStep] = []
    changing: list[str] = []
    looking: list[str] = []
    for index, step in enumerate(steps):
        earlier = ids[:index]  # a reference to a later step is left for the Validator to find
        waits = set(_referenced(step, earlier))
        if step.tool_call is None:
            waits |= set() if waits else set(earlier)
        else:
            effect = effects.get(step.tool_call.tool)
            if effect not in _HARMLESS:
                waits |= {*changing, *looking}
                changing.append(step.step_id)
            elif effect is Effect.READ:
                waits |= set(changing)
                looking.append(step.step_id)
        derived.append(replace(step, depends_on=tuple(name for name in ids if name in waits)))
    return tuple(derived)


def _gathered(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """The steps, the last of which, where it is an agent's, waits also for what no other waits for."""
    *others, last = steps
    if last.tool_call is not None:
        return tuple(steps)
    awaited = {name for step in others for name in step.depends_on}
    ids = (step.step_id for step in others)
    waits = tuple(name for name in ids if name in last.depends_on or name not in awaited)
    return (*others, replace(last, depends_on=waits))


def in_order(plan: Plan) -> Plan:
    """A client's plan with all that its steps wait for.

    A step that refers to another one waits for it. A plan in which no step says what it waits for runs
    in the order it is written in.
    """
    ids = [step.step_id for step in plan]
    if any(step.depends_on for step in plan):
        waits = [tuple(dict.fromkeys([*step.depends_on, *_referenced(step, ids)])) for step in plan]
    else:
        waits = [(), *((step_id,) for step_id in ids[:-1])]
    steps = (
        step if step.depends_on == names else replace(step, depends_on=names)
        for step, names in zip(plan, waits, strict=False)
    )
    return Plan(plan.goal, tuple(steps))


def describe_call(call: ToolCall) -> str:
    """A call in one line, for people."""
    arguments = ", ".join(f"{name}={display_json(item)}" for name, item in call.arguments.items())
    line = " ".join(f"{call.tool}: {arguments}".split()) if arguments else call.tool
    return line if len(line) <= MAX_DESCRIPTION_CHARS else f"{line[:MAX_DESCRIPTION_CHARS]} ..."


def _referenced(step: PlanStep, ids: Sequence[str]) -> list[str]:
    if step.tool_call is None:
        found = references_in_text(step.description, ids)
        return [reference.step_id for reference in found if reference.step_id in ids]
    references = references_in_value(step.tool_call.arguments, ids)
    return [reference.step_id for _, reference in references if reference.step_id in ids]
