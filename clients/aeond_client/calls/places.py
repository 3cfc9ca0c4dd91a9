# Generated from protos/ by `make proto`; never edited.
"""Where the values of records come from, if not from the field of their name."""

from collections.abc import Callable
from typing import Any

from aeond_client import events
from aeond_client.calls import values
from aeond_client.records import daemon, judgements, models, policy, runs, sessions, tools

ALWAYS_SET = {"DaemonState", "Effect", "EngineState", "Resolution", "Role"}
"""Enums of which an unset value is the word `unspecified`."""

PLACES: dict[type[Any], dict[str, str | Callable[[Any], Any]]] = {
    tools.ToolSpec: {
        "example": lambda wire: values.json_object(wire.example_json) if wire.example_json else None
    },
    judgements.Question: {"has_default": lambda wire: bool(wire.default_json)},
    runs.PlanStep: {"tool": "tool_call.tool", "arguments": "tool_call.arguments_json"},
    runs.Step: {"plan_step": "step"},
    runs.Run: {
        "text": "request.text",
        "request_id": "request.request_id",
        "session_id": "request.session_id",
        "workspace": "request.workspace",
        "labels": "request.labels",
        "model": "request.model",
        "unattended": "request.unattended",
        "uid": "owner.uid",
        "limit": "budget",
    },
    sessions.SessionMessage: {"text": lambda wire: values.text(wire.content_json)},
    models.TextPiece: {
        "prompt_tokens": "usage.prompt_tokens",
        "completion_tokens": "usage.completion_tokens",
        "cached_tokens": "usage.cached_tokens",
    },
    daemon.DaemonStatus: {
        "running_runs": "load.running_runs",
        "waiting_runs": "load.waiting_runs",
        "attention_runs": "load.attention_runs",
        "max_running_runs": "load.max_running_runs",
        "max_waiting_runs": "load.max_waiting_runs",
        "connections": "load.connections",
        "streams": "load.streams",
    },
    policy.ReplayedDecision: {"tool": "call.tool", "arguments": "call.arguments_json"},
    events.RunCreated: {
        "text": "request.text",
        "request_id": "request.request_id",
        "session_id": "request.session_id",
        "workspace": "request.workspace",
        "labels": "request.labels",
        "model": "request.model",
        "unattended": "request.unattended",
        "uid": "owner.uid",
        "limit": "budget",
    },
    events.BudgetAdjusted: {"limit": "budget"},
    events.CancelRequested: {"uid": "owner.uid"},
    events.RouteChosen: {"tool": "tool_call.tool"},
    events.PassEvaluated: {
        "completeness": lambda wire: wire.completeness if wire.scored else None,
        "coherence": lambda wire: wire.coherence if wire.scored else None,
        "consistency": lambda wire: wire.consistency if wire.scored else None,
    },
    events.StepResolved: {"uid": "owner.uid"},
    events.PolicyDecided: {"tool": "call.tool"},
    events.ChildRunStarted: {"limit": "budget"},
    events.InputAnswered: {"uid": "owner.uid"},
    events.ApprovalDecided: {"uid": lambda wire: wire.owner.uid if wire.HasField("owner") else -1},
}
