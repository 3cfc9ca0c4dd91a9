"""Previews of calls by the tools themselves, within bounds."""

import logging
from dataclasses import replace
from typing import Final

import anyio

from aeond.capabilities.tools.registry import Registry
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.tools import ToolCall, ToolContext
from aeond.errors import AeondError
from aeond.ports.approvals import MAX_DIFF_CHARS, PREVIEW_SECONDS, Previews

log = logging.getLogger(__name__)

MAX_PROBLEM_CHARS: Final = 1_000


class ToolPreviews:
    """The CallPreviews of the registered tools."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def preview(self, call: ToolCall, context: ToolContext) -> CallPreview:
        registered = self._registry.get(call.tool)
        if registered is None or not isinstance(registered.tool, Previews):
            return CallPreview()
        preview = CallPreview(problem=f"no preview within {PREVIEW_SECONDS:g} seconds")
        with anyio.move_on_after(PREVIEW_SECONDS):
            try:
                preview = await registered.tool.preview(call.arguments, context)
            except AeondError as error:
                preview = CallPreview(problem=error.message[:MAX_PROBLEM_CHARS])
            except Exception as error:  # tool boundary: the arguments are shown in any case
                log.exception("a preview failed", extra={"tool": call.tool})
                preview = CallPreview(problem=f"no preview: {type(error).__name__}")
        if len(preview.diff) <= MAX_DIFF_CHARS:
            return preview
        return replace(preview, diff=preview.diff[:MAX_DIFF_CHARS], problem="the diff is cut off")
