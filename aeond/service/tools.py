"""Tool operations for clients, including one direct call."""

import logging
from collections.abc import Sequence

from aeond.domain.policy import DecidedCall, Origin
from aeond.domain.runs.run import Owner
from aeond.domain.tools import ToolCall, ToolContext, ToolResult, ToolSpec
from aeond.errors import NotFoundError
from aeond.ports import Ids, ToolInvoker, ToolRegistry
from aeond.service.runs.admission import Admission
from aeond.service.runs.workspaces import Workspaces

OWN_WORKSPACE = "calls-{uid}"  # of one user

log = logging.getLogger("aeond.policy")


class Tools:
    """Lists, describes and calls the registered tools."""

    def __init__(
        self,
        *,
        registry: ToolRegistry,
        invoker: ToolInvoker,
        workspaces: Workspaces,
        admission: Admission,
        ids: Ids,
    ) -> None:
        self._registry = registry
        self._invoker = invoker
        self._workspaces = workspaces
        self._admission = admission
        self._ids = ids

    async def list_tools(self, *, after: str, limit: int) -> Sequence[ToolSpec]:
        """Sorted by name."""
        return [spec for spec in self._registry.specs() if spec.name > after][:limit]

    async def get(self, name: str) -> ToolSpec:
        tool = self._registry.get(name)
        if tool is None:
            raise NotFoundError(
                f"tool {name!r} does not exist: list the tools to see the existing ones",
                reason="TOOL_NOT_FOUND",
            )
        return tool.spec

    async def invoke(self, call: ToolCall, workspace: str, owner: Owner) -> ToolResult:
        """A failing tool is a result. Nothing is journaled: a call outside a run has no history; the policy's decision
        is logged."""
        self._admission.check()
        await self.get(call.tool)
        folder = await self._workspaces.resolve(workspace, OWN_WORKSPACE.format(uid=owner.uid), owner)
        call_id = call.call_id or self._ids.new_id()
        context = ToolContext("", "", call_id, folder, uid=owner.uid, origin=Origin.DIRECT)
        result = await self._invoker.invoke(ToolCall(call.tool, call.arguments, call_id), context, _log)
        if result.request is None:
            return result
        error = f"{call.tool} works only as a step of a run, because it asks a person or starts a run"
        return ToolResult(False, error=error, reason="TOOL_NEEDS_RUN")


def _log(decided: DecidedCall) -> None:
    facts, decision = decided.facts, decided.decision
    log.info(
        "direct call of %s by user %d: %s (%s)",
        facts.tool,
        facts.uid,
        decision.verdict,
        decision.rule or "no rule",
        extra={"kind": "policy_decided"},
    )
