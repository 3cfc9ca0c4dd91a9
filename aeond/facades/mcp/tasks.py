"""Runs as tasks of MCP, its extension of 2026-07-28: a task is a run, by whose id it outlives the connection, this process
and the daemon. https://modelcontextprotocol.github.io/ext-tasks
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from aeond.facades.mcp import consent, results
from aeond_client import AsyncClient, Run
from aeond_client.records.runs import RunState, StepState
from aeond_client.waiting_runs import waiting_run

EXTENSION: Final = "io.modelcontextprotocol/tasks"
POLL_MILLISECONDS: Final = 500


class TaskParams(types.RequestParams):
    """Names a task."""

    task_id: str


class UpdateParams(TaskParams):
    """What a person has filled in, by the keys of the forms."""

    input_responses: dict[str, types.ElicitResult]


def are_known(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client of this request declares the extension."""
    capabilities = context.session.client_capabilities
    declared = capabilities.extensions if capabilities is not None else None
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in (declared or {})


def created(run: Run) -> dict[str, Any]:
    """The result of a call that goes on as a task."""
    return {"resultType": "task", **_shown(run)}


async def detailed(client: AsyncClient, run_id: str) -> dict[str, Any]:
    """The task as it is now, with its result, or with the form that a person must fill in. AeondError."""
    run = await client.get_run(run_id)
    shown = _shown(run)
    if run.state.ended and run.state is not RunState.CANCELLED:
        result = results.of_run(run).model_dump(by_alias=True, mode="json", exclude_none=True)
        shown["result"] = {"resultType": "complete", **result}
        return shown
    asked = await _asked(client, run)
    if asked is not None:
        key, form, _ = asked
        params = form.model_dump(by_alias=True, mode="json", exclude_none=True)
        shown["status"] = "input_required"
        shown["inputRequests"] = {key: {"method": "elicitation/create", "params": params}}
    return shown


async def update(
    client: AsyncClient, run_id: str, responses: Mapping[str, types.ElicitResult]
) -> dict[str, Any]:
    """Sends what a person said to the daemon. A response to a form that is not open changes nothing. AeondError."""
    asked = await _asked(client, await client.get_run(run_id))
    if asked is not None:
        key, _, state = asked
        if key in responses:
            await consent.settle(client, state, responses[key])
    return {}


async def cancel(client: AsyncClient, run_id: str) -> dict[str, Any]:
    """Returns once the cancellation is durable; a task that has ended stays as it is. AeondError."""
    await client.cancel_run(run_id, "cancelled by the MCP client")
    return {}


async def _asked(client: AsyncClient, run: Run) -> tuple[str, types.ElicitRequestFormParams, str] | None:
    """The key of the open form, the form, and the state with which its answer is settled."""
    waiting = await waiting_run(client, run)
    asked = consent.request_for(waiting) if waiting is not None else None
    if waiting is None or asked is None:
        return None
    form, state = asked
    name = waiting.approvals[0].approval_id if waiting.approvals else waiting.questions[0].question_id
    return f"{waiting.run_id}/{name}", form, state


def _shown(run: Run) -> dict[str, Any]:
    """The part that all tasks have."""
    working = [step.plan_step for step in run.steps if step.state is StepState.RUNNING]
    status = "working"
    if run.state.ended:
        status = "cancelled" if run.state is RunState.CANCELLED else "completed"
    message = ", ".join(step.description or step.tool or step.agent for step in working)
    if run.state is RunState.SUSPENDED:
        message = f"suspended ({run.suspend_reason}): aeonctl show {run.run_id}"
    shown = {
        "taskId": run.run_id,
        "status": status,
        "createdAt": _time(run.created_time),
        "lastUpdatedAt": _time(run.changed_time),
        "ttlMs": None,
        "pollIntervalMs": POLL_MILLISECONDS,
    }
    return {**shown, "statusMessage": message} if message else shown


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
