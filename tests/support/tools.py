"""Tools that behave badly, each in its own way, and what tests of tools have in common."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from aeond.capabilities.tools.invoker import GuardedInvoker
from aeond.capabilities.tools.registry import Registry
from aeond.domain.tools import Effect, ToolCall, ToolContext, ToolResult, ToolSpec
from aeond.ports import Tool
from aeond.ports.policy import Decided
from tests.support.authorisers import AllowAll
from tests.support.doubles import ManualClock

CONTEXT = ToolContext(run_id="run1", step_id="s1", call_id="call1", workspace="")

TEXT_OBJECT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 100}},
    "required": ["text"],
}

Work = Callable[[Mapping[str, Any], ToolContext], Awaitable[Any]]


async def give_back(arguments: Mapping[str, Any], _context: ToolContext) -> Any:
    return {"text": arguments["text"]}


async def nothing(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
    return None


async def called(tool: Tool, workspace: Path | str = "", **arguments: Any) -> Any:
    """The `value` that a tool of tests/support/sandbox_tools.py returns when it works in this folder."""
    output: Any = await tool.execute(arguments, replace(CONTEXT, workspace=str(workspace)))
    return output["value"]


@dataclass
class FreeTool:
    """A tool with a spec and a body of the test's own; by default it gives its text back."""

    name: str = "give_back"
    work: Work = give_back
    recall: Work = nothing
    input_schema: Mapping[str, Any] = field(default_factory=lambda: TEXT_OBJECT)
    output_schema: Mapping[str, Any] = field(default_factory=lambda: TEXT_OBJECT)
    description: str = "Gives a text back."
    example: Mapping[str, Any] | None = None
    timeout_seconds: float = 5.0
    max_output_bytes: int = 1 << 20

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            effect=Effect.PURE,
            example=self.example,
            timeout_seconds=self.timeout_seconds,
            max_output_bytes=self.max_output_bytes,
        )

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        return await self.work(arguments, context)

    async def reconcile(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        return await self.recall(arguments, context)


@dataclass
class RefuseAll:
    """An authoriser that refuses every call and remembers what it was asked."""

    asked: list[ToolCall] = field(default_factory=list)

    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        self.asked.append(call)
        return ToolResult(False, error="the policy says no", reason="POLICY_DENIED")


def invoker_of(*tools: Tool, **bounds: Any) -> GuardedInvoker:
    """An invoker of these tools that allows everything."""
    registry = Registry()
    for tool in tools:
        registry.register(tool)
    return GuardedInvoker(registry, ManualClock(), AllowAll(), **bounds)


def returning(value: object) -> Work:
    async def work(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        return value

    return work


def raising(error: BaseException) -> Work:
    async def work(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        raise error

    return work


async def hang(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
    await anyio.sleep_forever()


def call(tool: str = "give_back", **arguments: Any) -> ToolCall:
    return ToolCall(tool, arguments or {"text": "hello"}, "call1")


def within(context: ToolContext, workspace: object) -> ToolContext:
    return replace(context, workspace=str(workspace))
