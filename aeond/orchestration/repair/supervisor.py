"""Asks a model for JSON, and repairs the form of its output, never its meaning: by rule first, then by asking the model.

Each repair ends in one of three ways: a success without a problem (nothing was wrong), a success whose
problem, reason REPAIRED, tells what was changed, or a failure with reason REPAIR_FAILED. Repairs by
rule and by the model are checked in the same way: the result must be valid, and every tool, task
and argument value in it must stand in what was to be repaired.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final, TypeVar

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message
from aeond.domain.outcome import Outcome, Problem, failure, success
from aeond.domain.plans.plan import Plan, PlanStep
from aeond.domain.runs.budgets import Grant
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject, JsonValue, display_json
from aeond.orchestration.budget.budgeted_llm import BudgetedLLM, is_cut
from aeond.orchestration.planning.plan_parsing import describe_call, plan_from_model
from aeond.orchestration.planning.plan_schema import (
    compile_arguments,
    compile_plan_schema,
    compile_tool_calls,
    largest_bytes,
)
from aeond.orchestration.prompts import run_prompts
from aeond.orchestration.repair.call_repair import repair_arguments, repair_plan_shape, repair_step_shape
from aeond.orchestration.repair.json_repair import Reading, repair_json
from aeond.orchestration.repair.provenance import Material, values_in
from aeond.orchestration.repair.strict_json import check_value, read_json
from aeond.ports import LLMAdapter, Validator
from aeond.schemas.parts import as_object, closed_object

ASKING_SECONDS: Final = 300.0
MAX_REPAIR_CHARS: Final = 16_000  # of what is shown to the model
MAX_REPAIR_TOKENS: Final = 1_000
MAX_ATTEMPTS: Final = 2

T = TypeVar("T")


class Supervisor:
    """Repairs by rule, and else by at most MAX_ATTEMPTS calls of the model, each taken from the grant before it is made.
    The results are checked by the Validator."""

    def __init__(self, llm: LLMAdapter, validator: Validator) -> None:
        self.llm = llm
        self.validator = validator

    async def ask(
        self,
        messages: tuple[Message, ...],
        schema: JsonObject,
        max_tokens: int,
        grant: Grant,
        deadline_seconds: float = ASKING_SECONDS,
    ) -> Outcome[JsonValue]:
        """JSON that satisfies the schema, for one call of the grant.

        Output that does not is repaired with what is left of the grant; it is not asked for again. A model that
        fails, a grant that is spent and an answer that was cut (ANSWER_CUT: half of what was meant is not what
        was meant) are problems, with the value None.
        """
        request = LLMRequest(
            messages, max_tokens=max_tokens, schema=schema, deadline_seconds=deadline_seconds
        )
        answered = await BudgetedLLM(self.llm, grant).generate(request)
        if answered.value is None:
            return answered.failed(None)
        if is_cut(answered.value):
            return failure(Problem("ANSWER_CUT", f"the answer was cut after {max_tokens} tokens"), None)
        text = answered.value.text
        read = read_json(text)
        if read.ok and not self.validator.validate_output(read.value, schema):
            return read
        repaired = await self.repair_json(text, schema, grant)
        return repaired if repaired.ok else repaired.failed(None)

    async def repair_json(self, text: str, schema: JsonObject, grant: Grant) -> Outcome[JsonValue]:
        material = Material(text)

        def read(written: str) -> Reading[JsonValue]:
            repaired = repair_json(written)
            if repaired.problem:
                return _reading(repaired.value, [repaired.problem])
            problems = self.validator.validate_output(repaired.value, schema)
            problems = problems or _inventions(material, repaired.value)
            return _reading(repaired.value, problems, repaired.changes)

        return await self._repair(text, read, run_prompts.repair_json_messages, schema, grant)

    async def repair_tool_call(
        self, call: ToolCall, spec: ToolSpec, grant: Grant
    ) -> Outcome[ToolCall | None]:
        proposal: JsonObject = {"tool": call.tool, "arguments": call.arguments}
        if unreadable := check_value(proposal):
            return failure(replace(unreadable[0], reason="REPAIR_FAILED"), None)
        source = display_json(proposal)
        material = Material(source)
        given = repair_arguments(call.arguments, spec, self.validator)  # in the types that the tool wants

        def read(written: str) -> Reading[ToolCall | None]:
            repaired = repair_json(written)
            shaped = as_object(repair_step_shape(repaired.value))
            tool, arguments = shaped.get("tool"), shaped.get("arguments")
            if repaired.problem or not isinstance(tool, str) or not isinstance(arguments, dict):
                problem = repaired.problem or Problem("CALL_SHAPE", "a call is a tool with arguments")
                return _reading(None, [problem])
            typed = repair_arguments(arguments, spec, self.validator)
            result = ToolCall(tool, typed)
            problems = [
                *self.validator.validate_tool_call(result, spec),
                *_inventions(material, [tool, typed]),
            ]
            if not _keeps(typed, given):
                problems.append(Problem("MEANING_LOST", "an argument value was dropped"))
            changed = shaped != repaired.value or typed != arguments
            return _reading(
                result, problems, repaired.changes, "corrected the form of the call" if changed else ""
            )

        def ask(text: str, problem: str) -> tuple[Message, ...]:
            return run_prompts.repair_call_messages(text, problem, spec)

        schema = closed_object({"tool": {"const": spec.name}, "arguments": compile_arguments(spec)})
        return await self._repair(source, read, ask, schema, grant)

    async def repair_plan(self, text: str, specs: Sequence[ToolSpec], grant: Grant) -> Outcome[Plan | None]:
        material = Material(text)
        by_name = {spec.name: spec for spec in specs}

        def read(written: str) -> Reading[Plan | None]:
            repaired = repair_json(written)
            if repaired.problem:
                return _reading(None, [repaired.problem])
            shaped = repair_plan_shape(repaired.value)
            outcome = plan_from_model(shaped, specs)
            if outcome.value is None:
                return _reading(None, [outcome.cause])
            result = replace(outcome.value, steps=tuple(self._typed(s, by_name) for s in outcome.value))
            problems = [
                *self.validator.validate_plan(result),
                *_inventions(material, _meaning_of(result)),
            ]
            if not material.holds_each([s.tool_call.tool for s in result if s.tool_call]):
                problems.append(Problem("MEANING_ADDED", "a step was added"))
            changed = shaped != repaired.value or result != outcome.value
            return _reading(
                result, problems, repaired.changes, "corrected the form of the steps" if changed else ""
            )

        schema = compile_plan_schema(specs)
        return await self._repair(text, read, run_prompts.repair_plan_messages, schema, grant)

    async def repair_missing_tool_step(
        self,
        step: PlanStep,
        specs: Sequence[ToolSpec],
        goal: str,
        grant: Grant,
    ) -> Outcome[PlanStep]:
        """The step with a registered tool and cleared errors; on failure the step as it was."""
        if not specs:
            return failure(Problem("REPAIR_FAILED", "no tools are registered"), step)
        asked = step.tool_call
        source = display_json({"tool": asked.tool, "arguments": asked.arguments}) if asked else "{}"
        material = Material(source, step.description, goal, step.incoming_context)
        by_name = {spec.name: spec for spec in specs}

        def read(written: str) -> Reading[PlanStep]:
            repaired = repair_json(written)
            shaped = as_object(repair_step_shape(repaired.value))
            name, arguments = shaped.get("tool"), shaped.get("arguments")
            spec = _closest(name, by_name) if isinstance(name, str) else None
            if repaired.problem or spec is None or not isinstance(arguments, dict):
                return _reading(step, [Problem("TOOL_UNKNOWN", "no registered tool does this")])
            call = ToolCall(spec.name, repair_arguments(arguments, spec, self.validator))
            problems = [
                *self.validator.validate_tool_call(call, spec),
                *_inventions(material, call.arguments),
            ]
            result = replace(step, tool_call=call, agent=None, errors=())
            return _reading(result, problems, (), f"now calls {describe_call(call)}")

        def ask(text: str, problem: str) -> tuple[Message, ...]:
            return run_prompts.replace_tool_messages(text, problem, step.description, goal, specs)

        outcome = await self._repair(source, read, ask, compile_tool_calls(specs), grant)
        return outcome if outcome.ok else outcome.failed(step)

    async def _repair(
        self,
        source: str,
        read: Callable[[str], Reading[T]],
        ask: Callable[[str, str], tuple[Message, ...]],
        schema: JsonObject,
        grant: Grant,
    ) -> Outcome[T]:
        """Takes the reading by rule if it is good; else asks the model."""
        first = read(source)
        if first.ok:
            return _outcome_of(first)
        problem = first.cause
        if len(source) > MAX_REPAIR_CHARS:
            return failure(_failed(f"{problem}; and it is too long to be shown to the model"), first.value)
        llm = BudgetedLLM(self.llm, grant)
        longest = min(MAX_REPAIR_TOKENS, _longest(schema))
        for attempt in range(1, MAX_ATTEMPTS + 1):
            request = LLMRequest(ask(source, str(problem)), max_tokens=longest, schema=schema)
            answered = await llm.generate(request)
            if answered.value is None:
                return failure(_failed(f"{problem}; {answered.problem}"), first.value)
            if is_cut(answered.value):
                problem = Problem("ANSWER_CUT", f"the repair was cut after {longest} tokens")
                continue
            reading = read(answered.value.text)
            if reading.ok:
                by = f"asked the model to repair it, attempt {attempt} ({problem})"
                return _outcome_of(replace(reading, changes=(by, *reading.changes)))
            problem = reading.cause
        return failure(_failed(str(problem)), first.value)

    def _typed(self, step: PlanStep, by_name: dict[str, ToolSpec]) -> PlanStep:
        call = step.tool_call
        if call is None or call.tool not in by_name:
            return step
        arguments = repair_arguments(call.arguments, by_name[call.tool], self.validator)
        return (
            step if arguments == call.arguments else replace(step, tool_call=ToolCall(call.tool, arguments))
        )


def _reading(
    value: T, problems: Sequence[Problem], changes: tuple[str, ...] = (), change: str = ""
) -> Reading[T]:
    more = (change,) if change else ()
    return Reading(not problems, value, problems[0] if problems else None, (*changes, *more))


def _outcome_of(reading: Reading[T]) -> Outcome[T]:
    if not reading.changes:
        return success(reading.value)
    return Outcome(True, reading.value, Problem("REPAIRED", "; ".join(reading.changes)))


def _failed(message: str) -> Problem:
    return Problem("REPAIR_FAILED", f"could not be repaired: {message}")


def _inventions(material: Material, value: JsonValue) -> tuple[Problem, ...]:
    invented = material.invented(value)
    if not invented:
        return ()
    return (Problem("MEANING_ADDED", f"not in what was to be repaired: {', '.join(invented[:5])}"),)


def _meaning_of(plan: Plan) -> JsonValue:
    """What a plan says beyond its form: tools, arguments, agents' tasks."""
    calls: list[JsonValue] = [[s.tool_call.tool, s.tool_call.arguments] for s in plan if s.tool_call]
    tasks: list[JsonValue] = [
        [s.agent, "" if s.description == run_prompts.WHOLE_REQUEST else s.description]
        for s in plan
        if not s.tool_call
    ]
    return [*calls, *tasks]


def _keeps(arguments: JsonValue, given: JsonValue) -> bool:
    """Whether each value that was given is still there, in whatever type."""
    there = {display_json(value) for value in values_in(arguments)}
    return all(display_json(value) in there for value in values_in(given))


def _closest(name: str, by_name: dict[str, ToolSpec]) -> ToolSpec | None:
    """The tool of that name, allowing near matches."""
    if name in by_name:
        return by_name[name]
    even = {known.lower().replace("-", "_"): known for known in by_name}
    found = get_close_matches(name.lower().replace("-", "_")[:80], even, n=1, cutoff=0.85)
    return by_name[even[found[0]]] if found else None


def _longest(schema: JsonObject) -> int:
    try:
        return largest_bytes(schema)
    except KeyError:
        return MAX_REPAIR_TOKENS  # a text or list without a bound
