"""Tool operations for clients, including one direct call."""

import logging
from collections.abc import Sequence

from aeond.domain.policy import DecidedCall, Origin
from aeond.domain.runs.run import Caller
from aeond.domain.tools import ToolCall, ToolContext, ToolResult, ToolSpec
from aeond.errors import NotFoundError, RefusedError
from aeond.frozen import frozen
from aeond.ports import Ids, ToolInvoker, ToolRegistry
from aeond.ports.serving import LentTerminal, ServedTools, TerminalKind, ToolServing
from aeond.service.runs.admission import Admission
from aeond.service.runs.workspaces import Workspaces

OWN_WORKSPACE = "calls-{uid}"  # of one user

log = logging.getLogger("aeond.policy")


@frozen
class Tools:
    """Lists, describes and calls the registered tools, and registers those of clients."""

    registry: ToolRegistry
    invoker: ToolInvoker
    workspaces: Workspaces
    admission: Admission
    ids: Ids
    serving: ToolServing

    async def list_tools(self, caller: Caller, *, after: str, limit: int) -> Sequence[ToolSpec]:
        """The common tools and those of the caller's clients, sorted by name."""
        found = [spec for spec in self.registry.of(caller.owner.uid).specs() if spec.name > after]
        return sorted(found, key=lambda spec: spec.name)[:limit]

    async def get(self, name: str, caller: Caller) -> ToolSpec:
        tool = self.registry.of(caller.owner.uid).get(name)
        if tool is None:
            raise NotFoundError(
                f"tool {name!r} does not exist: list the tools to see the existing ones",
                reason="TOOL_NOT_FOUND",
            )
        return tool.spec

    def serve(self, caller: Caller) -> ServedTools:
        """A stream for tools of the caller's. RefusedError (reason UNKNOWN_USER) without a user whose they are."""
        self.admission.check()
        if caller.owner.uid == -1:
            raise RefusedError("tools belong to a user, and yours is unknown", reason="UNKNOWN_USER")
        return self.serving.open(caller.owner.uid)

    def attach(self, run_id: str, kind: TerminalKind, caller: Caller) -> LentTerminal:
        """Lends the caller's terminal to a run of theirs. See `Terminals`. A run of another user, or one that does not exist,
        does not find it."""
        self.admission.check()
        return self.serving.terminals.attach(caller.owner.uid, run_id, kind)

    async def invoke(self, call: ToolCall, workspace: str, caller: Caller) -> ToolResult:
        """A failing tool is a result. Nothing is journaled: a call outside a run has no history; the policy's decision
        is logged."""
        self.admission.check()
        await self.get(call.tool, caller)
        owner = caller.owner
        folder = await self.workspaces.resolve(workspace, OWN_WORKSPACE.format(uid=owner.uid), owner)
        call_id = call.call_id or self.ids.new_id()
        context = ToolContext("", "", call_id, folder, uid=owner.uid, origin=Origin.DIRECT)
        result = await self.invoker.invoke(ToolCall(call.tool, call.arguments, call_id), context, _log)
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
