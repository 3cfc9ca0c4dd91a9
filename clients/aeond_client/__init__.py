"""The Python client of aeond: the same surface for asyncio programs (AsyncClient) and others (Client).

Entry point: `Client`, `AsyncClient` and the names in `__all__`.
Must not know the daemon's code: it imports the contract in `aeond.api` and nothing else of aeond.

Names are imported on first use: gRPC takes a tenth of a second to import, which a program that only needs the
errors or the records does not pay.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aeond_client.async_client import AsyncClient
    from aeond_client.calls.run_calls import ForkOptions, RunOptions
    from aeond_client.client import Client
    from aeond_client.connection.retries import Retries
    from aeond_client.errors import AeondError, NoAnswerError, NoDaemonError
    from aeond_client.events import Event
    from aeond_client.records.daemon import ConfigChanges, DaemonStatus
    from aeond_client.records.judgements import ApprovalRequest, CallPreview, Question
    from aeond_client.records.models import Engine, ModelInfo, TextPiece
    from aeond_client.records.runs import (
        Amounts,
        Answer,
        Budget,
        Plan,
        PlanStep,
        Problem,
        Resolution,
        Run,
        RunState,
        RunSummary,
        Step,
        StepState,
        UndoReport,
    )
    from aeond_client.records.sessions import Session, SessionContext, SessionMessage
    from aeond_client.records.tools import ToolCall, ToolResult, ToolSpec
    from aeond_client.serving.client_tool import CallContext, ClientTool, ToolFailure, tool
    from aeond_client.serving.served_tools import AsyncServedTools, ServedTools, serve_tools
    from aeond_client.socket_address import SocketAddress
    from aeond_client.watching.async_watch import AsyncWatch
    from aeond_client.watching.following import Outage
    from aeond_client.watching.watch import Watch

__all__ = [
    "AeondError",
    "Amounts",
    "Answer",
    "ApprovalRequest",
    "AsyncClient",
    "AsyncServedTools",
    "AsyncWatch",
    "Budget",
    "CallContext",
    "CallPreview",
    "Client",
    "ClientTool",
    "ConfigChanges",
    "DaemonStatus",
    "Engine",
    "Event",
    "ForkOptions",
    "ModelInfo",
    "NoAnswerError",
    "NoDaemonError",
    "Outage",
    "Plan",
    "PlanStep",
    "Problem",
    "Question",
    "Resolution",
    "Retries",
    "Run",
    "RunOptions",
    "RunState",
    "RunSummary",
    "ServedTools",
    "Session",
    "SessionContext",
    "SessionMessage",
    "SocketAddress",
    "Step",
    "StepState",
    "TextPiece",
    "ToolCall",
    "ToolFailure",
    "ToolResult",
    "ToolSpec",
    "UndoReport",
    "Watch",
    "serve_tools",
    "tool",
]

_HOMES = {
    name: home
    for home, names in {
        "async_client": ("AsyncClient",),
        "watching.async_watch": ("AsyncWatch",),
        "client": ("Client",),
        "records.daemon": ("ConfigChanges", "DaemonStatus"),
        "errors": ("AeondError", "NoAnswerError", "NoDaemonError"),
        "events": ("Event",),
        "watching.following": ("Outage",),
        "records.judgements": ("ApprovalRequest", "CallPreview", "Question"),
        "records.models": ("Engine", "ModelInfo", "TextPiece"),
        "connection.retries": ("Retries",),
        "calls.run_calls": ("ForkOptions", "RunOptions"),
        "records.runs": (
            "Amounts",
            "Answer",
            "Budget",
            "Plan",
            "PlanStep",
            "Problem",
            "Resolution",
            "Run",
            "RunState",
            "RunSummary",
            "Step",
            "StepState",
            "UndoReport",
        ),
        "serving.client_tool": ("CallContext", "ClientTool", "ToolFailure", "tool"),
        "serving.served_tools": ("AsyncServedTools", "ServedTools", "serve_tools"),
        "records.sessions": ("Session", "SessionContext", "SessionMessage"),
        "socket_address": ("SocketAddress",),
        "records.tools": ("ToolCall", "ToolResult", "ToolSpec"),
        "watching.watch": ("Watch",),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
