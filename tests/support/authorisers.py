"""Authorisers that stand in for the policy."""

from aeond.domain.tools import ToolCall, ToolContext, ToolResult
from aeond.ports.policy import Decided


class AllowAll:
    """Carries every well-formed call out, without a decision."""

    async def authorise(self, call: ToolCall, context: ToolContext, decided: Decided) -> ToolResult | None:
        return None
