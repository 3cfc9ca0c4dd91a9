"""Every call of RunService as data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from aeond.api.v1 import parts_pb2, runs_pb2, tools_pb2
from aeond_client.calls.call_spec import (
    CHANGE_SECONDS,
    Call,
    PageCall,
    check_unicode,
    json_text,
    methods_of,
    nothing,
    pages,
)
from aeond_client.calls.reading import event, read
from aeond_client.errors import InvalidInputError
from aeond_client.events import Event
from aeond_client.records.runs import (
    Budget,
    Plan,
    PlanStep,
    Resolution,
    Run,
    RunState,
    RunSummary,
    UndoReport,
)

REPLAY_SECONDS = 600.0
UNDO_SECONDS = 60.0

_RUNS = methods_of(runs_pb2.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run; the daemon chooses those that are not set.

    `workspace` is the absolute path of the folder that confines file tools, `parallel_steps` the maximum
    number of concurrent steps, `labels` free words that are returned unchanged, `model` the model for all
    steps. An `unattended` run is suspended as soon as a call needs approval. `tools` are
    patterns of the only tools that it may use, `tool_profile` names such a list in the daemon's configuration.
    """

    plan: Plan | None = None
    budget: Budget | None = None
    workspace: str = ""
    session_id: str = ""
    parallel_steps: int = 0
    labels: dict[str, str] | None = None
    model: str = ""
    unattended: bool = False
    tools: Iterable[str] = ()
    tool_profile: str = ""


def create_run(text: str, request_id: str, options: RunOptions) -> Call[Run]:
    labels = options.labels or {}
    check_unicode("request.text", text)
    check_unicode("request.workspace", options.workspace)
    check_unicode("request.labels", *labels, *labels.values())
    request = runs_pb2.CreateRunRequest(
        request=parts_pb2.RunRequest(
            text=text,
            request_id=request_id,
            session_id=options.session_id,
            workspace=options.workspace,
            parallel_steps=options.parallel_steps,
            labels=labels,
            model=options.model,
            unattended=options.unattended,
            tools=options.tools,
            tool_profile=options.tool_profile,
        )
    )
    if options.plan is not None:
        request.plan.CopyFrom(_plan(options.plan))
    if options.budget is not None:
        request.budget.CopyFrom(_budget(options.budget))
    return Call(_RUNS["CreateRun"], request, _run_of, bool(request_id), CHANGE_SECONDS)


def get_run(run_id: str) -> Call[Run]:
    request = runs_pb2.GetRunRequest(run_id=run_id)
    return Call(_RUNS["GetRun"], request, _run_of)


def list_runs(states: Iterable[RunState], session_id: str, parent_run_id: str) -> PageCall[RunSummary]:
    numbers = [parts_pb2.RunState.Value(f"RUN_STATE_{RunState(state).name}") for state in states]

    request = partial(
        runs_pb2.ListRunsRequest, states=numbers, session_id=session_id, parent_run_id=parent_run_id
    )
    return pages(_RUNS["ListRuns"], request, "runs", partial(read, RunSummary))


def cancel_run(run_id: str, reason: str) -> Call[Run]:
    request = runs_pb2.CancelRunRequest(run_id=run_id, reason=reason)
    return Call(_RUNS["CancelRun"], request, _run_of, seconds=CHANGE_SECONDS)


def decide_run(run_id: str, resolution: Resolution, step_id: str) -> Call[Run]:
    request = runs_pb2.DecideRunRequest(
        run_id=run_id,
        step_id=step_id,
        resolution=parts_pb2.Resolution.Value(f"RESOLUTION_{Resolution(resolution).name}"),
    )
    return Call(_RUNS["DecideRun"], request, _run_of, False, CHANGE_SECONDS)


def decide_approval(run_id: str, approval_id: str, digest: str, approved: bool, scope: str) -> Call[Run]:
    decision = runs_pb2.ApprovalDecision(approval_id=approval_id, digest=digest, approved=approved)
    try:
        decision.scope = parts_pb2.ApprovalScope.Value(f"APPROVAL_SCOPE_{scope.upper()}")
    except ValueError as error:
        raise InvalidInputError(
            f"An approval cannot be given for {scope!r}.", reason="SCOPE_NOT_OFFERED", field="scope"
        ) from error
    request = runs_pb2.DecideRunRequest(run_id=run_id, approval=decision)
    return Call(_RUNS["DecideRun"], request, _run_of, False, CHANGE_SECONDS)


def answer_run(run_id: str, answer: Any, question_id: str) -> Call[Run]:
    request = runs_pb2.AnswerRunRequest(run_id=run_id, question_id=question_id, answer_json=json_text(answer))
    return Call(_RUNS["AnswerRun"], request, _run_of, False, CHANGE_SECONDS)


@dataclass(frozen=True, slots=True)
class ForkOptions:
    """Options that differ in a fork; the others are copied."""

    plan: Plan | None = None
    budget: Budget | None = None
    model: str = ""


def fork_run(run_id: str, after_seq: int, options: ForkOptions, request_id: str) -> Call[Run]:
    request = runs_pb2.ForkRunRequest(
        run_id=run_id,
        after_seq=after_seq,
        plan=None if options.plan is None else _plan(options.plan),
        model=options.model,
        budget=None if options.budget is None else _budget(options.budget),
        request_id=request_id,
    )
    return Call(_RUNS["ForkRun"], request, _run_of, seconds=CHANGE_SECONDS)


def replay_run(run_id: str, until_seq: int) -> Call[tuple[Event, ...]]:
    """A streaming call: `read` reads each message."""
    request = runs_pb2.ReplayRunRequest(run_id=run_id, until_seq=until_seq)
    return Call(_RUNS["ReplayRun"], request, events_of, False, REPLAY_SECONDS)


def undo_run(run_id: str) -> Call[UndoReport]:
    request = runs_pb2.UndoRunRequest(run_id=run_id)
    return Call(_RUNS["UndoRun"], request, partial(read, UndoReport), False, UNDO_SECONDS)


def delete_run(run_id: str) -> Call[None]:
    request = runs_pb2.DeleteRunRequest(run_id=run_id)
    # A repeat would report a missing run although this very call had deleted it.
    return Call(_RUNS["DeleteRun"], request, nothing, False, UNDO_SECONDS)


def watch_run(
    run_id: str, after_seq: int, child_seqs: Mapping[str, int] | None, seconds: float
) -> Call[tuple[Event, ...]]:
    """A streaming call that is repeated after each interruption, from the last position; with positions in
    the runs below, their events are included.
    """
    request = runs_pb2.WatchRunRequest(
        run_id=run_id,
        after_seq=after_seq,
        include_children=child_seqs is not None,
        child_seqs=child_seqs or {},
    )
    return Call(_RUNS["WatchRun"], request, events_of, False, seconds)


def events_of(reply: Any) -> tuple[Event, ...]:
    """The events of one message of a stream."""
    return tuple(map(event, reply.events))


def _run_of(reply: Any) -> Run:
    return read(Run, reply.run)


def _plan(plan: Plan) -> parts_pb2.Plan:
    return parts_pb2.Plan(goal=plan.goal, steps=[_plan_step(step) for step in plan.steps])


def _plan_step(step: PlanStep) -> parts_pb2.PlanStep:
    call = tools_pb2.ToolCall(tool=step.tool, arguments_json=json_text(step.arguments)) if step.tool else None
    return parts_pb2.PlanStep(
        step_id=step.step_id,
        description=step.description,
        tool_call=call,
        agent=step.agent,
        depends_on=step.depends_on,
        provides=step.provides,
        handoff_to_next=step.handoff_to_next,
    )


def _budget(budget: Budget) -> parts_pb2.Budget:
    wire = parts_pb2.Budget()
    for field in fields(budget):
        bound = getattr(budget, field.name)
        if bound is None:
            continue
        try:
            setattr(wire, field.name, bound)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"A run's {field.name} cannot be {bound!r}.",
                reason="INVALID_BUDGET",
                field=f"budget.{field.name}",
            ) from error
    return wire
