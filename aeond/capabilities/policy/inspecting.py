"""Determines the facts of a call from its tool's declarations, its targets and its run."""

from typing import Final

from aeond.domain.policy import CallFacts, Effect
from aeond.domain.tools import ToolCall, ToolCode, ToolContext, Workspace
from aeond.errors import NotFoundError
from aeond.frozen import frozen
from aeond.ports import ToolRegistry
from aeond.ports.policy import reports_targets

_UNKNOWN: Final = ToolCode()


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
        # not isinstance: for a protocol with a property that costs ten times as much as the decision
        code: ToolCode = getattr(tool, "tool_code", _UNKNOWN)
        computes = spec.effect is Effect.PURE and not spec.source
        if not computes and reports_targets(tool):
            targets = await tool.targets(call.arguments, context)
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
