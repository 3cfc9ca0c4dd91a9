"""Tools: what there is, and one guarded call outside of a run."""

from collections.abc import Sequence

from aeond.domain.runs import Owner
from aeond.domain.tools import ToolCall, ToolContext, ToolResult, ToolSpec
from aeond.errors import NotFoundError
from aeond.ports import Ids, ToolInvoker, ToolRegistry
from aeond.service.admission import Admission
from aeond.service.workspaces import Workspaces

OWN_WORKSPACE = "calls"


class Tools:
    """The registered tools as clients see and call them."""

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
                f"there is no tool {name!r}: list the tools to see which there are", reason="TOOL_NOT_FOUND"
            )
        return tool.spec

    async def invoke(self, call: ToolCall, workspace: str, owner: Owner) -> ToolResult:
        """A tool that fails is a result. Nothing is journaled: a call outside of a run has no history."""
        self._admission.check()
        await self.get(call.tool)
        folder = await self._workspaces.resolve(workspace, OWN_WORKSPACE)
        call_id = call.call_id or self._ids.new_id()
        context = ToolContext(run_id="", step_id="", call_id=call_id, workspace=folder)
        result = await self._invoker.invoke(ToolCall(call.tool, call.arguments, call_id), context)
        if result.request is None:
            return result
        error = f"{call.tool} works only as a step of a run: it asks for a person or for a run of its own"
        return ToolResult(False, error=error, reason="TOOL_NEEDS_RUN")
