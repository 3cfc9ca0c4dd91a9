"""Determines the facts of a call from its tool's declarations, its targets and its run."""

from collections.abc import Awaitable, Callable
from typing import Final

from aeond.domain.policy import CallFacts, Effect, Target
from aeond.domain.tools import ToolCall, ToolCode, ToolContext, Workspace
from aeond.domain.values import JsonObject
from aeond.errors import NotFoundError
from aeond.frozen import frozen
from aeond.ports import ToolRegistry

_UNKNOWN: Final = ToolCode()

Report = Callable[[JsonObject, ToolContext], Awaitable[tuple[Target, ...] | None]]


@frozen
class ToolInspector:
    """The CallInspector over the registered tools. The effect class is the one that the tool was registered with."""

    registry: ToolRegistry

    async def inspect(self, call: ToolCall, context: ToolContext) -> CallFacts:
        """See ports.CallInspector. Whatever the tool raises while it determines its targets propagates: such a call
        could not be carried out either. NotFoundError (TOOL_NOT_FOUND)."""
        tool = self.registry.of(context.uid).get(call.tool)
        if tool is None:
            raise NotFoundError(f"tool {call.tool!r} does not exist", reason="TOOL_NOT_FOUND", field="tool")
        spec, targets = tool.spec, None
        # not isinstance: for a protocol that costs as much as the decision, and ten times as much with a property
        code: ToolCode = getattr(tool, "tool_code", _UNKNOWN)
        report: Report | None = getattr(tool, "targets", None)
        computes = spec.effect is Effect.PURE and not spec.source
        if not computes and report is not None:
            targets = await report(call.arguments, context)
        return CallFacts(
            call.tool,
            spec.effect,
            call.arguments,
            targets or (),
            computes or targets is not None,
            context.taint,
            context.origin,
            context.uid,
            context.workspace,
            Workspace.identity_of(context.workspace),
            code.sandbox,
            bool(spec.source),
            code.digest,
        )
