"""Checks a tool against the rules for tools, for the tests of your own ones.

async def test_my_tool(tmp_path):
assert await tool_problems(my_tool, str(tmp_path)) == ()
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aeond.capabilities.tools.effects import EffectLog, split_output
from aeond.capabilities.tools.registry import RegisteredTool, check
from aeond.domain.plans.subtasks import SubtaskRequest
from aeond.domain.runs.questions import InputRequest
from aeond.domain.tools import Effect, Recovery, ToolContext
from aeond.domain.values import JsonObject
from aeond.errors import AeondError, ToolError
from aeond.ports import MAX_CANDIDATES

NO_SUCH_VALUE: Final = "q8 no such value 7x"
_WITHOUT_EFFECT: Final = (Effect.PURE, Effect.READ)


async def tool_problems(tool: object, workspace: str) -> tuple[str, ...]:
    """The rules that a tool breaks, as sentences; () for none.

    Executes the tool's example in `workspace`, an absolute path of a folder in which it can succeed, and one call with
    a value that does not exist for each argument with candidates, unless the tool changes something.
    """
    try:
        registered = check(tool)  # type: ignore[arg-type]  # what is no Tool fails here
    except AeondError as error:
        return (error.message,)
    if registered.spec.example is None:
        return ("it has no example: models need one valid call to copy",)
    context = ToolContext("run", "step", "run/step", workspace)
    return (
        *await _example_problems(registered, registered.spec.example, context),
        *await _candidate_problems(registered, registered.spec.example, context),
    )


async def _example_problems(tool: RegisteredTool, example: JsonObject, context: ToolContext) -> Sequence[str]:
    asks = tool.spec.recovery is Recovery.RECONCILE
    if asks and await tool.reconcile(example, context) is not None:
        return ("`reconcile` reports an effect of a call that was never made",)
    log = EffectLog(tool.spec.name)
    try:
        first = await tool.execute(example, replace(context, record=log.record))
        if isinstance(first, InputRequest | SubtaskRequest):
            return ()
        data, effects = log.completed(first)
    except AeondError as error:
        return (f"its example fails: {error.reason}: {error.message}",)
    problems = [f"its result breaks its output schema: {problem}" for problem in tool.output.problems(data)]
    changes = tool.spec.effect not in _WITHOUT_EFFECT
    if effects and not changes:
        problems.append(f"it reports effects but declares {tool.spec.effect.value}")
    if changes and not effects:
        problems.append(
            "it changes something but reports no effect: return a ToolOutput with RecordedEffects"
        )
    if asks:
        recalled = await tool.reconcile(example, context)
        if recalled is None or split_output(tool.spec.name, recalled) != (data, effects):
            problems.append("after a call `reconcile` does not return its result and effects")
    return problems


async def _candidate_problems(
    tool: RegisteredTool, example: JsonObject, context: ToolContext
) -> Sequence[str]:
    problems: list[str] = []
    for argument in tool.spec.candidates:
        values: Sequence[object] = await tool.candidates(argument, context, MAX_CANDIDATES)
        if not all(isinstance(value, str) and value for value in values):
            problems.append(f"candidates of {argument} must be texts that are not empty")
        if len(await tool.candidates(argument, context, 1)) > 1:
            problems.append(f"candidates of {argument} exceed the limit")
        if tool.spec.effect in _WITHOUT_EFFECT:
            problems += await _error_problems(tool, {**example, argument: NO_SUCH_VALUE}, argument, context)
    return problems


async def _error_problems(
    tool: RegisteredTool, arguments: JsonObject, argument: str, context: ToolContext
) -> Sequence[str]:
    try:
        await tool.execute(arguments, context)
    except ToolError as error:
        if error.reason == ToolError.reason:
            return (f"the error about {argument} has no reason of its own",)
        if error.field != argument and not error.candidates:
            return (f"the error about {argument} has neither field={argument!r} nor candidates",)
    except AeondError as error:
        return (f"the error about {argument} is no ToolError: {error.reason}",)
    return ()
