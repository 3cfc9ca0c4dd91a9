import json

import grpc
import pytest

from aeond.api.v1 import parts_pb2, runs_pb2, tools_pb2
from aeond.domain.plans.plan import Plan, PlanStep, StepState
from aeond.domain.plans.steps import StepMode
from aeond.domain.runs.budgets import Amounts
from aeond.domain.runs.events import PlanAdopted, RunEnded, RunStarted, RunSuspended, StepEnded, StepStarted
from aeond.domain.runs.live_updates import TextDelta
from aeond.domain.runs.run import PlanSource, RunState, SuspendReason
from aeond.domain.tools import Recovery
from tests.support.api_world import ApiWorld, Stubs, refused

INVALID = grpc.StatusCode.INVALID_ARGUMENT
HELLO = parts_pb2.RunRequest(text="hello")


HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def plan_of(*steps: parts_pb2.PlanStep) -> parts_pb2.Plan:
    return parts_pb2.Plan(steps=steps)


def call_step(step_id: str = "s1", **fields: str) -> parts_pb2.PlanStep:
    return parts_pb2.PlanStep(step_id=step_id, tool_call=tools_pb2.ToolCall(tool="echo", **fields))


async def test_a_run_is_created_as_asked(world: ApiWorld, client: Stubs) -> None:
    """Everything that the request says reaches the service, with defaults where it says nothing."""
    request = runs_pb2.CreateRunRequest(
        request=parts_pb2.RunRequest(
            text="größe?", session_id="s", workspace="/srv/work", labels={"a": "b"}, request_id="r-1"
        ),
        plan=plan_of(
            call_step("s1", arguments_json='{"n": 18446744073709551616}'),
            parts_pb2.PlanStep(step_id="s2", description="say it", agent="llm", depends_on=["s1"]),
        ),
        budget=parts_pb2.Budget(ttl=3, llm_calls=0, wall_seconds=1.5),
    )
    answer = await client.runs.CreateRun(request)
    run = world.behind.runs.snapshots[answer.run.run_id]
    assert run.request.text == "größe?"
    assert (run.request.session_id, run.request.workspace) == ("s", "/srv/work")
    assert run.request.labels == {"a": "b"}
    assert run.request.parallel_steps == 4
    assert run.plan is not None
    assert run.plan.goal == "größe?"
    first, second = run.plan.steps
    assert first.tool_call is not None
    assert first.tool_call.arguments == {"n": 2**64}
    assert (second.agent, second.depends_on, second.step_index, second.total_steps) == ("llm", ("s1",), 2, 2)
    limit = run.ledger.limit
    assert (limit.ttl, limit.llm_calls, limit.wall_seconds, limit.depth) == (3, 0, 1.5, 3)
    again = await client.runs.CreateRun(request)
    assert again.run.run_id == answer.run.run_id


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (runs_pb2.CreateRunRequest(), "REQUIRED", "request"),
        (runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest()), "EMPTY", "request.text"),
        (runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text=" \n")), "EMPTY", "request.text"),
        (
            runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="x" * 100_001)),
            "TOO_LONG",
            "request.text",
        ),
        (
            runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="x", request_id="a\tb")),
            "UNPRINTABLE",
            "request.request_id",
        ),
        (
            runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="x", workspace="here")),
            "RELATIVE_PATH",
            "request.workspace",
        ),
        (
            runs_pb2.CreateRunRequest(request=parts_pb2.RunRequest(text="x", parallel_steps=17)),
            "OUT_OF_RANGE",
            "request.parallel_steps",
        ),
        (
            runs_pb2.CreateRunRequest(request=HELLO, budget=parts_pb2.Budget(tokens=-1)),
            "OUT_OF_RANGE",
            "budget.tokens",
        ),
        (
            runs_pb2.CreateRunRequest(request=HELLO, budget=parts_pb2.Budget(wall_seconds=float("nan"))),
            "OUT_OF_RANGE",
            "budget.wall_seconds",
        ),
        (runs_pb2.CreateRunRequest(request=HELLO, plan=plan_of()), "EMPTY", "plan.steps"),
        (
            runs_pb2.CreateRunRequest(request=HELLO, plan=plan_of(*[call_step()] * 10_000)),
            "TOO_MANY",
            "plan.steps",
        ),
        (
            runs_pb2.CreateRunRequest(
                request=HELLO, plan=plan_of(*[call_step(arguments_json=f'{{"a":"{"x" * 50_000}"}}')] * 30)
            ),
            "TOO_LONG",
            "plan",
        ),
        (
            runs_pb2.CreateRunRequest(request=HELLO, plan=plan_of(call_step(), call_step(""))),
            "EMPTY",
            "plan.steps[1].step_id",
        ),
        (
            runs_pb2.CreateRunRequest(request=HELLO, plan=plan_of(call_step(arguments_json="{"))),
            "INVALID_JSON",
            "plan.steps[0].tool_call.arguments_json",
        ),
        (
            runs_pb2.CreateRunRequest(request=HELLO, plan=plan_of(call_step(arguments_json="[" * 200_000))),
            "INVALID_JSON",
            "plan.steps[0].tool_call.arguments_json",
        ),
        (
            runs_pb2.CreateRunRequest(request=HELLO, plan=plan_of(call_step(arguments_json="[1]"))),
            "NOT_AN_OBJECT",
            "plan.steps[0].tool_call.arguments_json",
        ),
        (
            runs_pb2.CreateRunRequest(
                request=HELLO,
                plan=plan_of(
                    parts_pb2.PlanStep(step_id="s", agent="llm", tool_call=tools_pb2.ToolCall(tool="echo"))
                ),
            ),
            "TOOL_AND_AGENT",
            "plan.steps[0].agent",
        ),
    ],
)
async def test_a_request_out_of_form_is_refused_with_its_field(
    world: ApiWorld, client: Stubs, request_: runs_pb2.CreateRunRequest, reason: str, field: str
) -> None:
    """Both ways to create a run refuse the same mistakes, name the field, and create nothing."""
    async with refused(INVALID, reason, field):
        await client.runs.CreateRun(request_)
    same = runs_pb2.RunAndWatchRequest.FromString(request_.SerializeToString())
    async with refused(INVALID, reason, field):
        async for _ in client.runs.RunAndWatch(same):
            pass
    assert world.behind.runs.snapshots == {}


async def test_a_run_is_shown_as_it_is(world: ApiWorld, client: Stubs) -> None:
    """GetRun shows the state, the plan, each step with its output, and the budget's use."""
    run_id = (await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=HELLO))).run.run_id
    runs = world.behind.runs
    step = PlanStep("s1", "do it", step_index=1, total_steps=2)
    small, large = {"n": 1}, {"text": "x" * 40_000}
    runs.happen(run_id, RunStarted())
    plan = Plan("the goal", (step, PlanStep("s2", "more", step_index=2, total_steps=2)))
    runs.happen(run_id, PlanAdopted(plan, PlanSource.CLIENT))
    for name, output in (("s1", small), ("s2", large)):
        intent = plan.step(name)
        reserved = Amounts(ttl=1, tool_calls=1)
        runs.happen(run_id, StepStarted(intent, 1, StepMode.TOOL, Recovery.RERUN, reserved))
        runs.happen(run_id, StepEnded(name, StepState.SUCCEEDED, StepMode.TOOL, output, used=reserved))
    run = (await client.runs.GetRun(runs_pb2.GetRunRequest(run_id=run_id))).run
    assert run.state == parts_pb2.RUN_STATE_RUNNING
    assert (run.goal, run.plan_source) == ("the goal", parts_pb2.PLAN_SOURCE_CLIENT)
    first, second = run.steps
    assert (first.step.step_id, first.attempt, json.loads(first.output_json)) == ("s1", 1, small)
    assert (second.output_json, second.output_bytes) == ("", len(json.dumps(large, separators=(",", ":"))))
    assert (run.used.ttl, run.used.tool_calls, run.reserved.ttl) == (2, 2, 0)
    assert run.last_seq == runs.snapshots[run_id].seq


@pytest.mark.parametrize(
    ("header", "kept"),
    [(HEADER, HEADER), ("garbage", ""), (f"01{HEADER[2:]}-{'x' * 500}", f"01{HEADER[2:]}")],
)
async def test_the_trace_context_of_a_call_belongs_to_its_run(
    world: ApiWorld, client: Stubs, header: str, kept: str
) -> None:
    """A valid traceparent in the metadata is a part of the request, without what later versions append; an invalid one
    is ignored."""
    answer = await client.runs.CreateRun(
        runs_pb2.CreateRunRequest(request=HELLO), metadata=(("traceparent", header),)
    )
    assert world.behind.runs.snapshots[answer.run.run_id].request.trace_parent == kept


async def test_a_missing_run_is_not_found(client: Stubs) -> None:
    """Each call about a run that is not there says so, and an empty id is a mistake of form."""
    async with refused(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND"):
        await client.runs.GetRun(runs_pb2.GetRunRequest(run_id="none"))
    async with refused(INVALID, "EMPTY", "run_id"):
        await client.runs.GetRun(runs_pb2.GetRunRequest())
    async with refused(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND"):
        await client.runs.CancelRun(runs_pb2.CancelRunRequest(run_id="none"))
    async with refused(INVALID, "EMPTY", "run_id"):
        await client.runs.CancelRun(runs_pb2.CancelRunRequest())
    async with refused(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND"):
        async for _ in client.runs.WatchRun(runs_pb2.WatchRunRequest(run_id="none")):
            pass


async def test_lists_are_paged_and_filtered(world: ApiWorld, client: Stubs) -> None:
    """Pages follow each other newest first; filters hold on every page; a token of another filter is refused."""
    for _ in range(5):
        await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=HELLO))
    world.behind.runs.happen("run-0002", RunStarted())
    seen: list[str] = []
    token = ""
    while True:
        page = await client.runs.ListRuns(runs_pb2.ListRunsRequest(page_size=2, page_token=token))
        seen += [run.run_id for run in page.runs]
        token = page.next_page_token
        if not token:
            break
    assert seen == [f"run-{number:04}" for number in (5, 4, 3, 2, 1)]
    pending = runs_pb2.ListRunsRequest(states=[parts_pb2.RUN_STATE_PENDING], page_size=3)
    page = await client.runs.ListRuns(pending)
    assert [run.run_id for run in page.runs] == ["run-0005", "run-0004", "run-0003"]
    async with refused(INVALID, "BAD_PAGE_TOKEN", "page_token"):
        await client.runs.ListRuns(runs_pb2.ListRunsRequest(page_token=page.next_page_token))
    async with refused(INVALID, "UNKNOWN_VALUE", "states[1]"):
        unknown = runs_pb2.ListRunsRequest(states=[parts_pb2.RUN_STATE_PENDING, 99])  # type: ignore[list-item] # a newer client's
        await client.runs.ListRuns(unknown)
    page = await client.runs.ListRuns(runs_pb2.ListRunsRequest(parent_run_id="run-0001"))
    assert not page.runs
    async with refused(INVALID, "UNPRINTABLE", "parent_run_id"):
        await client.runs.ListRuns(runs_pb2.ListRunsRequest(parent_run_id="a\nb"))


async def test_watching_gives_what_was_what_is_and_then_ends(world: ApiWorld, client: Stubs) -> None:
    """A watcher gets the past after its cursor, then the present with live text, and OK at the end."""
    run_id = (await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=HELLO))).run.run_id
    runs = world.behind.runs
    runs.happen(run_id, RunStarted())
    call = client.runs.WatchRun(runs_pb2.WatchRunRequest(run_id=run_id, after_seq=1))
    responses = aiter(call)
    events = list((await anext(responses)).events)
    runs.show(run_id, TextDelta(run_id, "", "It is", 0))
    events += (await anext(responses)).events
    runs.happen(run_id, RunEnded(RunState.CANCELLED))
    async for response in responses:
        events += response.events
    assert [(event.seq, event.WhichOneof("kind")) for event in events] == [
        (2, "run_started"),
        (0, "text_delta"),
        (3, "run_ended"),
    ]
    assert await call.code() is grpc.StatusCode.OK
    await runs.watchers.reaches(0)


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (runs_pb2.WatchRunRequest(run_id="run-0001", after_seq=-1), "OUT_OF_RANGE", "after_seq"),
        (runs_pb2.WatchRunRequest(run_id="run-0001", after_seq=2), "SEQ_AHEAD", "after_seq"),
    ],
)
async def test_a_cursor_that_cannot_be_is_refused(
    client: Stubs, request_: runs_pb2.WatchRunRequest, reason: str, field: str
) -> None:
    """A cursor below zero or ahead of the run ends the stream before its first event."""
    await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=HELLO))
    async with refused(INVALID, reason, field):
        async for _ in client.runs.WatchRun(request_):
            pass


async def test_running_and_watching_gives_the_run_first(world: ApiWorld, client: Stubs) -> None:
    """The first response is the run, the next ones are its events from the first on."""
    responses = aiter(client.runs.RunAndWatch(runs_pb2.RunAndWatchRequest(request=HELLO)))
    first = await anext(responses)
    assert first.run.run_id == "run-0001"
    assert not first.events
    second = await anext(responses)
    assert not second.HasField("run")
    assert [event.seq for event in second.events] == [1]
    world.behind.runs.happen("run-0001", RunEnded(RunState.CANCELLED))
    rest = [event async for response in responses for event in response.events]
    assert [event.seq for event in rest] == [2]


async def test_a_request_to_cancel_carries_who_and_why(world: ApiWorld, client: Stubs) -> None:
    """CancelRun returns the run with the recorded cancellation request."""
    await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=HELLO))
    answer = await client.runs.CancelRun(runs_pb2.CancelRunRequest(run_id="run-0001", reason="enough"))
    assert answer.run.cancel_requested
    (_, wish) = world.behind.runs.journals["run-0001"]
    assert wish.kind.reason == "enough"  # type: ignore[union-attr] # a CancelRequested
    async with refused(INVALID, "TOO_LONG", "reason"):
        await client.runs.CancelRun(runs_pb2.CancelRunRequest(run_id="run-0001", reason="x" * 1_001))


async def test_a_decision_reaches_the_run(world: ApiWorld, client: Stubs) -> None:
    """A person's decision about a suspended run is passed on; without one that waits it is refused."""
    await client.runs.CreateRun(runs_pb2.CreateRunRequest(request=HELLO))
    decision = runs_pb2.DecideRunRequest(run_id="run-0001", resolution=parts_pb2.RESOLUTION_RETRY)
    async with refused(grpc.StatusCode.FAILED_PRECONDITION, "NOTHING_TO_DECIDE"):
        await client.runs.DecideRun(decision)
    world.behind.runs.happen("run-0001", RunSuspended(SuspendReason.REPEATED_CRASHES))
    assert (await client.runs.DecideRun(decision)).run.last_seq == 3
    async with refused(INVALID, "UNKNOWN_VALUE", "resolution"):
        await client.runs.DecideRun(runs_pb2.DecideRunRequest(run_id="run-0001"))
