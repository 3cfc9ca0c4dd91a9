"""Ports of approvals: what a call would do, shown before it happens."""

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


class CallPreviews(Protocol):
    """Previews of calls of any registered tool."""

    async def preview(self, call: ToolCall, context: ToolContext) -> CallPreview:
        """The account of the call's tool, its diff cut at MAX_DIFF_CHARS, within PREVIEW_SECONDS; an empty preview, with
        the problem if there is one, where the tool gives none, fails or takes longer. Changes nothing, never raises."""
