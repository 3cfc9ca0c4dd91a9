"""Ports of approvals: what a call would do, shown before it happens."""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, runtime_checkable

from aeond.domain.plans.approvals import CallPreview
from aeond.domain.tools import ToolCall, ToolContext
from aeond.domain.values import JsonObject

PREVIEW_SECONDS: Final = 5.0
MAX_DIFF_CHARS: Final = 64 * 1024


@runtime_checkable
class Previews(Protocol):
    """What a Tool has beside `execute` and `reconcile` if it can show what a call would do."""

    async def preview(self, arguments: JsonObject, context: ToolContext) -> CallPreview:
        """What a call with these valid arguments would do now. Changes nothing; may raise."""


Preview = Callable[[ToolCall, ToolContext], Awaitable[CallPreview]]
"""What a call would do now, by the account of its tool: its diff cut at MAX_DIFF_CHARS, within PREVIEW_SECONDS. An empty
preview, with the problem if there is one, where the tool gives none, fails or takes longer. Changes nothing, never raises."""
