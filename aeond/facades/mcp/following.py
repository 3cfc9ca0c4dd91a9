"""Follows a run for one call of a tool: progress, questions and approvals, cancellation, the answer."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from aeond.facades.mcp import consent, results
from aeond_client import AsyncClient, events
from aeond_client.connection.waiting import waits
from aeond_client.errors import AeondError, InvalidInputError

ANSWER_SECONDS: Final = 900.0
"""How long a form stays open; then the call returns, and the run waits on."""
MAX_FORMS: Final = 3
"""How often one form is shown while its values are invalid; then the call returns, and the run waits on."""

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult | dict[str, Any]


@dataclass
class _Progress:
    """Steps that have started or ended, which only ever grows, of twice the steps that are known."""

    context: Context
    done: int = 0
    planned: int = 0
    titles: dict[tuple[str, str], str] = field(default_factory=dict)

    async def show(self, event: events.Event) -> None:
        match event.kind:
            case events.PlanAdopted(plan=plan) | events.PlanRefined(plan=plan):
                self.planned = max(self.planned, 2 * len(plan.steps))
                return
            case events.StepStarted(step=step):
                title = step.description or step.tool or step.agent
                self.titles[event.run_id, step.step_id] = title
                message = f"{title} …"
            case events.StepEnded(step_id=step_id, state=state):
                message = f"{self.titles.get((event.run_id, step_id), step_id)}: {state}"
            case _:
                return
        self.done += 1
        total = max(self.planned, self.done)
        await self.context.session.report_progress(float(self.done), float(total), message)


async def follow(client: AsyncClient, run_id: str, context: Context) -> Result:
    """Returns the answer of the run, its state when it waits for a person who cannot be asked here, or an error with its
    id. A client of 2026-07-28 gets the form as the result, and repeats its call with the answer.
    """
    try:
        return await _follow(client, run_id, context)
    except AeondError as error:
        return results.of_error(error, run_id)


async def _follow(client: AsyncClient, run_id: str, context: Context) -> Result:
    progress = _Progress(context)
    async with client.watch(run_id, children=True) as watched:
        async for event in watched:
            await progress.show(event)
            if not isinstance(
                event.kind, events.InputRequested | events.ApprovalRequested | events.RunSuspended
            ):
                continue
            run = await client.get_run(event.run_id)
            asked = consent.request_for(run)
            if asked is None:
                if isinstance(event.kind, events.RunSuspended) and waits(run):
                    return results.of_run(run)
                continue
            form, state = asked
            if not _can_ask(context):
                return results.of_run(run)
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return _required(run_id, form, state)
            if not await _ask(client, context, form, state):
                return results.of_run(await client.get_run(event.run_id))
    return results.of_run(await client.get_run(run_id))


def resumed_run(request_state: str) -> tuple[str, str]:
    """The run that a repeated call continues, and what was asked. ValueError if the state is not ours."""
    state = json.loads(request_state)
    match state:
        case {"root": str(root), "asked": str(asked)} if isinstance(json.loads(asked), dict):
            return root, asked
        case _:
            raise ValueError("requestState is not one of this server's")


async def settled(client: AsyncClient, run_id: str, asked: str, given: types.ElicitResult) -> Result | None:
    """Sends the answer of a repeated call to the daemon. None if the run can go on; otherwise the result of the call: the
    state of the run, an error with its id, or the form with what is wrong. ValueError or KeyError if the state is not ours.
    """
    asking = json.loads(asked)["run"]
    try:
        try:
            if await consent.settle(client, asked, given):
                return None
            return results.of_run(await client.get_run(asking))
        except InvalidInputError as error:
            shown = consent.request_for(await client.get_run(asking))
            if shown is None:
                raise
            form, state = shown
            return _required(run_id, _corrected(form, error), state)
    except AeondError as error:
        return results.of_error(error, run_id)


def _required(run_id: str, form: types.ElicitRequestFormParams, state: str) -> types.InputRequiredResult:
    return types.InputRequiredResult(
        input_requests={consent.KEY: types.ElicitRequest(params=form)},
        request_state=json.dumps({"root": run_id, "asked": state}),
    )


def _corrected(form: types.ElicitRequestFormParams, error: AeondError) -> types.ElicitRequestFormParams:
    """The form with what is wrong with the values above it."""
    return form.model_copy(update={"message": f"{error.message}\n\n{form.message}"})


def _can_ask(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


async def _ask(
    client: AsyncClient, context: Context, form: types.ElicitRequestFormParams, state: str
) -> bool:
    """Whether the person has decided; what they said is sent to the daemon. Invalid values are asked for again. A client
    that cannot show the form leaves the run waiting."""
    shown = form
    for _ in range(MAX_FORMS):
        result: types.ElicitResult | None = None
        with anyio.move_on_after(ANSWER_SECONDS), suppress(MCPError, ValidationError):
            result = await context.session.elicit_form(
                shown.message, shown.requested_schema, context.request_id
            )
        if result is None:
            return False
        try:
            return await consent.settle(client, state, result)
        except InvalidInputError as error:
            shown = _corrected(form, error)
    return False
