"""The overhead of checked tool calls, and of calling a model through its agent, compared with direct
calls."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import anyio
import anyio.lowlevel

from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.agent import LLMAgent
from aeond.capabilities.policy.authorising import PolicyAuthoriser
from aeond.capabilities.policy.inspecting import ToolInspector
from aeond.capabilities.policy.loading import Profile, load_policy
from aeond.capabilities.policy.trust import Trust
from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolSpec
from aeond.domain.values import JsonObject, JsonValue
from benchmarks.measuring import Sample
from benchmarks.page import Section, microseconds, verdict
from tests.support.null_objects import NoApprover

CALLS_A_TURN = 500
TURNS = 41
TOOL_SECONDS = 0.001

_TEXT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 1000}},
    "required": ["text"],
    "additionalProperties": False,
}
_CALL = ToolCall("same", {"text": "hello"}, "call")
_CONTEXT = ToolContext(run_id="run", step_id="s1", call_id="call", workspace="")


class Same:
    """A tool that returns its argument, so that only the overhead is measured."""

    spec = ToolSpec(
        name="same",
        description="Gives back the text.",
        input_schema=_TEXT_SCHEMA,
        output_schema=_TEXT_SCHEMA,
        effect=Effect.PURE,
    )

    async def execute(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        return {"text": arguments["text"]}

    async def reconcile(self, arguments: JsonObject, context: ToolContext) -> JsonValue | None:
        return None


def measure(_folder: Path) -> Section:
    """The overhead of each, absolute and relative to a tool or model that works for a millisecond."""
    rows = []
    for name, path in (
        ("a tool, through the invoker", tool_path),
        ("a model, through its agent", agent_path),
    ):
        direct, ours = anyio.run(path)
        added = ours.median - direct.median
        share = added / TOOL_SECONDS
        rows.append(
            (
                name,
                microseconds(ours.median),
                microseconds(direct.median),
                microseconds(added),
                f"{share:.1%}",
                verdict(share * 100, at_most=5, unit=" %"),
            )
        )
    return Section(
        "Checked calls",
        f"{TURNS} rounds of {CALLS_A_TURN} calls each, direct and checked in alternation. The floor is"
        " the same work called directly.",
        ("what", "aeond", "floor", "added", "of a call of 1 ms", "aim"),
        tuple(rows),
    )


async def tool_path() -> tuple[Sample, Sample]:
    """A direct tool call, and the same call through lookup, both schemas, authorisation, slot, timer and size
    check."""
    tool, registry = Same(), Registry()
    registry.register(tool)
    authoriser = PolicyAuthoriser(
        ToolInspector(registry), load_policy(Profile.TRUSTED_FOLDER, None), NoApprover(), Trust()
    )
    invoker = GuardedInvoker(registry, SystemClock(), authoriser)
    result = await invoker.invoke(_CALL, _CONTEXT)
    if not result.success or result.data != _CALL.arguments:
        message = f"the checked call failed: {result.error}"
        raise RuntimeError(message)
    return await _in_turns(
        lambda: tool.execute(_CALL.arguments, _CONTEXT), lambda: invoker.invoke(_CALL, _CONTEXT)
    )


async def agent_path() -> tuple[Sample, Sample]:
    """A direct call to a scripted model, and the same call through its agent."""
    llm = ScriptedLLM(Script(rules=(Rule(text="Hello."),)))
    agent, message = LLMAgent(llm), Message(Role.USER, "Say hello.")
    request = LLMRequest((message,))
    answer = await agent.process(message)
    if answer.content != "Hello.":
        failure = f"the agent answered {answer.content!r}"
        raise RuntimeError(failure)
    return await _in_turns(lambda: llm.generate(request), lambda: agent.process(message))


async def _in_turns(
    direct: Callable[[], Awaitable[object]], ours: Callable[[], Awaitable[object]]
) -> tuple[Sample, Sample]:
    durations: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for call, seconds in zip((direct, ours), durations, strict=True):
            begun = perf_counter()
            for _ in range(CALLS_A_TURN):
                await call()
            seconds.append((perf_counter() - begun) / CALLS_A_TURN)
            await anyio.lowlevel.checkpoint()
    return Sample(tuple(durations[0])), Sample(tuple(durations[1]))
