"""Plans from JSON: what a model writes, and what a client writes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans import MAX_PLAN_STEPS, Plan, PlanStep
from aeond.domain.tools import Effect, ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue, display_json
from aeond.orchestration.schema_parts import as_object, is_list
from aeond.orchestration.step_references import references_in_text, references_in_value
from aeond.orchestration.strict_json import pointer_token

LLM_AGENT: Final = "llm"
WHOLE_REQUEST: Final = "Answer the request."
MAX_DESCRIPTION_CHARS: Final = 160

_HARMLESS: Final = (Effect.PURE, Effect.READ)
_STEP_KEYS: Final = {
    "step_id": str,
    "description": str,
    "task": str,
    "agent": str,
    "tool": str,
    "handoff_to_next": str,
    "arguments": Mapping,
    "tool_call": Mapping,
    "depends_on": list,
    "provides": list,
}
_PLAN_KEYS: Final = {"goal": str, "steps": list}
_CALL_KEYS: Final = {"tool": str, "arguments": Mapping}
_WORDS: Final[Mapping[object, str]] = {str: "a text", list: "a list of texts", Mapping: "an object"}


def plan_from_model(value: JsonValue, goal: str, specs: Sequence[ToolSpec]) -> Outcome[Plan | None]:
    """A plan of steps s1, s2, ... from `{"steps": [{"tool", "arguments"} | {"agent", "task"}]}`.

    Dependencies are derived from the references in the steps and from the tools' effects. Checks the
    shape only; the rest is the Validator's.
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
    return success(Plan(goal, derive_dependencies(read, specs)))


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


def declared_order(plan: Plan) -> Plan:
    """A plan in which no step says what it waits for, runs in the order it is written in."""
    if any(step.depends_on for step in plan.steps):
        return plan
    before = [(), *((step.step_id,) for step in plan.steps)]
    ordered = (replace(s, depends_on=waits) for s, waits in zip(plan.steps, before, strict=False))
    return replace(plan, steps=tuple(ordered))


def plan_from_json(value: JsonValue) -> Outcome[Plan]:
    """A client's plan: `{"goal", "steps": [{"step_id", "description", "tool", "arguments" | "agent",
    "task", "depends_on", "provides", "handoff_to_next"}]}`.

    Only `steps` and, per step, a tool or a task are needed: ids default to s1, s2, ..., the agent of a
    task to `llm`. A reference makes the step wait for the one it refers to; without any dependency at
    all the steps run in order. On failure the problem names every fault with its path, and the value is
    the plan as far as it could be read.
    """
    problems = _mistyped(value, _PLAN_KEYS, "")
    entries = as_object(value).get("steps")
    steps: list[PlanStep] = []
    for index, item in enumerate(entries if is_list(entries) else ()):
        problems += _mistyped(item, _STEP_KEYS, f"/steps/{index}")
        steps.append(_client_step(as_object(item), f"s{index + 1}"))
    if not steps and not problems:
        problems.append(Problem("PLAN_EMPTY", "a plan needs at least one step", "/steps"))
    plan = declared_order(Plan(_text(as_object(value).get("goal")), _with_referenced(steps)))
    if problems:
        faults = "; ".join(map(str, problems[:20]))
        return failure(Problem(problems[0].reason, faults, problems[0].path), plan)
    return success(plan)


def describe_call(call: ToolCall) -> str:
    """A call in one line, for people."""
    arguments = ", ".join(f"{name}={display_json(item)}" for name, item in call.arguments.items())
    line = " ".join(f"{call.tool}: {arguments}".split()) if arguments else call.tool
    return line if len(line) <= MAX_DESCRIPTION_CHARS else f"{line[:MAX_DESCRIPTION_CHARS]} ..."


def _client_step(entry: JsonObject, default_id: str) -> PlanStep:
    call = as_object(entry.get("tool_call")) or entry
    tool, agent = call.get("tool"), entry.get("agent")
    tool_call = ToolCall(tool, as_object(call.get("arguments"))) if isinstance(tool, str) else None
    description = _text(entry.get("description")) or _text(entry.get("task"))
    named = agent if isinstance(agent, str) and agent else None
    if tool_call is None and named is None and description:
        named = LLM_AGENT
    return PlanStep(
        step_id=_text(entry.get("step_id")) or default_id,
        description=description or (describe_call(tool_call) if tool_call else ""),
        tool_call=tool_call,
        agent=named,
        depends_on=_texts(entry.get("depends_on")),
        provides=_texts(entry.get("provides")),
        handoff_to_next=_text(entry.get("handoff_to_next")),
    )


def _with_referenced(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    ids = [step.step_id for step in steps]
    if not any(step.depends_on for step in steps):
        return tuple(steps)
    return tuple(
        replace(step, depends_on=tuple(dict.fromkeys([*step.depends_on, *_referenced(step, ids)])))
        for step in steps
    )


def _referenced(step: PlanStep, ids: Sequence[str]) -> list[str]:
    if step.tool_call is None:
        found = references_in_text(step.description, ids)
        return [reference.step_id for reference in found if reference.step_id in ids]
    references = references_in_value(step.tool_call.arguments, ids)
    return [reference.step_id for _, reference in references if reference.step_id in ids]


def _mistyped(value: JsonValue, keys: Mapping[str, type], path: str) -> list[Problem]:
    """Unknown keys and values of the wrong type, each at its place."""
    if not isinstance(value, Mapping):
        return [Problem("PLAN_SHAPE", "expected an object", path)]
    problems = []
    for key, item in value.items():
        where = f"{path}/{pointer_token(key)}"
        wanted = keys.get(key)
        if wanted is None:
            known = ", ".join(keys)
            problems.append(
                Problem("PLAN_KEY_UNKNOWN", f"there is no '{key:.80}' here; known: {known}", where)
            )
        elif not isinstance(item, wanted):
            problems.append(Problem("PLAN_SHAPE", f"expected {_WORDS[wanted]}", where))
        elif is_list(item) and wanted is list and not (key == "steps" or _is_texts(item)):
            problems.append(Problem("PLAN_SHAPE", "expected a list of texts", where))
        elif key == "tool_call":
            problems += _mistyped(item, _CALL_KEYS, where)
    return problems


def _is_texts(items: Sequence[JsonValue]) -> bool:
    return all(isinstance(item, str) for item in items)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if is_list(value) else ()
