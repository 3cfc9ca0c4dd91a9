"""The Python client, async and sync, over a real gRPC server on a Unix socket."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import grpc
import pytest

from aeond.api.v1 import events_pb2, parts_pb2
from aeond_client import (
    AsyncClient,
    Budget,
    Client,
    NoAnswerError,
    NoDaemonError,
    Plan,
    PlanStep,
    Resolution,
    Retries,
    RunOptions,
    RunState,
    StepState,
    errors,
)
from aeond_client.events import AnswerComposed, Progress, RunEnded, StepEnded, TextDelta, UnknownKind
from aeond_client.records.daemon import ConfigChanges
from tests.support import wire_events
from tests.support.scripted_daemon import ScriptedDaemon, journal_of
from tests.support.surfaces import SURFACES, Surface

QUICK = Retries(attempts=4, first_seconds=0.01, longest_seconds=0.05)


@pytest.fixture(params=sorted(SURFACES))
async def surface(request: pytest.FixtureRequest, daemon: ScriptedDaemon) -> AsyncIterator[Surface]:
    async with SURFACES[request.param](daemon.path, QUICK) as surface:
        yield surface


async def test_asking_gives_every_event_and_the_answer(surface: Surface, daemon: ScriptedDaemon) -> None:
    """Asking yields the run's events in order, live ones between them, until its last."""
    events = await surface.collect("ask", "What is 17.5% of 2400?")
    (run,) = daemon.runs.runs.values()
    assert [event.seq for event in events if event.seq] == [seq for seq, _ in journal_of(run)]
    assert [event.run_id for event in events] == [run.run_id] * len(events)
    assert events[-1].kind == RunEnded(RunState.SUCCEEDED)
    outputs = [event.kind.output for event in events if isinstance(event.kind, StepEnded)]
    assert outputs == [420.0, {"written": True}]
    answers = [event.kind.answer.text for event in events if isinstance(event.kind, AnswerComposed)]
    assert answers == ["It is 420."]


async def test_running_gives_the_answer(surface: Surface) -> None:
    """The shortest way from a request to an answer is one call."""
    answer = await surface.call("run", "What is 17.5% of 2400?")
    assert (answer.text, answer.synthesized) == ("It is 420.", True)


async def test_running_says_why_there_is_no_answer(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A run that ends without an answer raises, with the run and its problem in plain words."""
    failed = wire_events.ended(parts_pb2.RUN_STATE_FAILED, message="The model is gone.")
    daemon.runs.script = lambda _: [wire_events.created(), failed]
    with pytest.raises(NoAnswerError, match=r"is failed and has no answer: The model is gone\.") as caught:
        await surface.call("run", "anything")
    assert caught.value.run.state is RunState.FAILED


async def test_running_does_not_wait_for_a_person(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A run that is suspended ends the wait for its answer, and the error says what it waits for."""
    suspended = events_pb2.RunSuspended(reason=parts_pb2.SUSPEND_REASON_UNKNOWN_STEP)
    daemon.runs.script = lambda _: [wire_events.created(), suspended]
    with anyio.fail_after(60), pytest.raises(NoAnswerError, match="waits for a person: unknown step"):
        await surface.call("run", "anything")


async def test_running_waits_for_disk_space(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A run that a full disk suspends continues by itself, and its answer is returned."""
    suspended = events_pb2.RunSuspended(reason=parts_pb2.SUSPEND_REASON_DISK_FULL)
    daemon.runs.script = lambda _: [wire_events.created(), suspended]
    daemon.runs.later = [
        [events_pb2.RunResumed(), suspended],
        [events_pb2.RunResumed(), wire_events.composed("Done."), wire_events.ended()],
    ]
    assert (await surface.call("run", "anything")).text == "Done."


async def test_live_updates_are_not_numbered(surface: Surface, daemon: ScriptedDaemon) -> None:
    """Text and progress reach a watcher who is there, as they happen and without a number."""
    daemon.runs.script = lambda _: [wire_events.created()]
    run = await surface.call("create_run", "anything")
    kinds = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            kinds.extend([(event.seq, event.kind) for event in await surface.collect("watch", run.run_id)])

        group.start_soon(watch)
        await daemon.runs.open_watches.reaches(1)
        for kind in (
            events_pb2.Progress(activity="loading", fraction=0.5),
            events_pb2.TextDelta(text="It is"),
            events_pb2.TextDelta(text=" 420.", offset=5),
            wire_events.ended(),
        ):
            daemon.runs.runs[run.run_id].append(kind)
    assert kinds[1:4] == [(0, Progress("loading", 0.5)), (0, TextDelta("It is")), (0, TextDelta(" 420.", 5))]


async def test_watching_starts_after_a_number(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A watch after a sequence number gives what follows it and nothing before."""
    run = await surface.call("create_run", "anything")
    events = await surface.collect("watch", run.run_id, 4)
    numbers = [event.seq for event in events]
    assert numbers == list(range(5, len(daemon.runs.runs[run.run_id].numbered) + 1))


async def test_watching_after_the_last_number_ends_at_once(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A watch that starts after a run's end yields nothing and does not wait."""
    run = await surface.call("create_run", "anything")
    last = len(daemon.runs.runs[run.run_id].numbered)
    assert await surface.collect("watch", run.run_id, last) == []
    assert daemon.runs.watches == [last]


async def test_leaving_a_watch_ends_the_call_and_not_the_run(
    surface: Surface, daemon: ScriptedDaemon
) -> None:
    """Leaving a watch frees its stream at once, and the run continues."""
    daemon.runs.script = lambda _: [wire_events.created(), events_pb2.RunStarted()]
    run = await surface.call("create_run", "anything")
    await surface.collect_until(2, run.run_id)
    await daemon.runs.open_watches.reaches(0)
    assert (await surface.call("get_run", run.run_id)).state is RunState.RUNNING


async def test_a_kind_from_the_future_is_counted(surface: Surface, daemon: ScriptedDaemon) -> None:
    """An event that this client has no class for keeps its number."""
    daemon.runs.script = lambda _: [wire_events.created(), None, wire_events.ended()]
    events = await surface.collect("ask", "anything")
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[1].kind == UnknownKind()


async def test_creating_twice_makes_one_run(surface: Surface, daemon: ScriptedDaemon) -> None:
    """The same request id gives the same run; without one each request is a run of its own."""
    first = await surface.call("create_run", "anything", request_id="mine")
    again = await surface.call("create_run", "anything", request_id="mine")
    other = await surface.call("create_run", "anything")
    assert first.run_id == again.run_id != other.run_id
    assert len(daemon.runs.runs) == 2


async def test_a_refused_creation_is_repeated_under_one_request_id(
    surface: Surface, daemon: ScriptedDaemon
) -> None:
    """While the daemon starts, a creation is tried again and makes one run."""
    daemon.runs.refusals = [(grpc.StatusCode.UNAVAILABLE, "STARTING")] * 3
    await surface.call("create_run", "anything")
    assert (daemon.runs.refusals, len(daemon.runs.runs)) == ([], 1)


async def test_tries_are_counted(surface: Surface, daemon: ScriptedDaemon) -> None:
    """Calls to an unavailable daemon stop after the last attempt with the daemon's reason."""
    daemon.runs.refusals = [(grpc.StatusCode.UNAVAILABLE, "STARTING")] * 9
    with pytest.raises(errors.UnavailableError) as caught:
        await surface.call("create_run", "anything")
    assert (caught.value.reason, caught.value.retry_after_seconds) == ("STARTING", 0.01)
    assert len(daemon.runs.refusals) == 9 - QUICK.attempts


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, errors.InvalidInputError),
        (grpc.StatusCode.NOT_FOUND, errors.NotFoundError),
        (grpc.StatusCode.ALREADY_EXISTS, errors.AlreadyExistsError),
        (grpc.StatusCode.FAILED_PRECONDITION, errors.WrongStateError),
        (grpc.StatusCode.PERMISSION_DENIED, errors.RefusedError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, errors.OverloadedError),
        (grpc.StatusCode.UNIMPLEMENTED, errors.NotOfferedError),
        (grpc.StatusCode.DATA_LOSS, errors.DataLossError),
        (grpc.StatusCode.INTERNAL, errors.DaemonError),
    ],
)
async def test_each_status_has_its_class(
    surface: Surface, daemon: ScriptedDaemon, code: grpc.StatusCode, kind: type[errors.AeondError]
) -> None:
    """Each gRPC code that the daemon uses arrives as one class, with the daemon's reason, and untried again."""
    daemon.runs.refusals = [(code, "SOME_REASON"), (code, "SECOND_TRY")]
    with pytest.raises(kind) as caught:
        await surface.call("create_run", "anything")
    assert type(caught.value) is kind
    assert (caught.value.reason, caught.value.message) == ("SOME_REASON", "Refused: SOME_REASON.")


async def test_a_bad_request_names_its_field(surface: Surface) -> None:
    """The error of a refused request says which part of it is at fault."""
    with pytest.raises(errors.InvalidInputError) as caught:
        await surface.call("create_run", "")
    assert (caught.value.reason, caught.value.field) == ("EMPTY_TEXT", "request.text")


async def test_a_run_that_is_not_there(surface: Surface) -> None:
    """Looking at, watching and cancelling an unknown run are the same clear error."""
    for name in ("get_run", "cancel_run"):
        with pytest.raises(errors.NotFoundError, match="RUN_NOT_FOUND"):
            await surface.call(name, "nowhere")
    with pytest.raises(errors.NotFoundError, match="RUN_NOT_FOUND"):
        await surface.collect("watch", "nowhere")


async def test_a_plan_and_its_bounds_arrive_as_given(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A client's options are sent unchanged, and unset options are left to the daemon."""
    step = PlanStep("s1", "add", tool="calculator", arguments={"expression": "1+1"})
    options = RunOptions(
        plan=Plan("two", (step, PlanStep("s2", agent="llm", depends_on=("s1",)))),
        budget=Budget(ttl=3, wall_seconds=1.5),
        workspace="/somewhere",
        labels={"from": "test"},
    )
    run = await surface.call("create_run", "anything", options)
    wire = daemon.runs.runs[run.run_id].request
    assert wire.plan.steps[0].tool_call.arguments_json == '{"expression": "1+1"}'
    assert not wire.plan.steps[1].HasField("tool_call")
    assert (wire.plan.steps[1].agent, list(wire.plan.steps[1].depends_on)) == ("llm", ["s1"])
    assert (wire.budget.ttl, wire.budget.wall_seconds, wire.budget.HasField("tokens")) == (3, 1.5, False)
    assert (run.workspace, run.labels, run.limit.ttl, run.limit.tokens) == (
        "/somewhere",
        {"from": "test"},
        3,
        None,
    )


async def test_a_run_is_read_whole(surface: Surface) -> None:
    """A run that is looked at has its steps with outputs and its answer."""
    run_id = (await surface.call("create_run", "anything")).run_id
    run = await surface.call("get_run", run_id)
    assert [(step.step_id, step.state, step.output) for step in run.steps] == [
        ("s1", StepState.SUCCEEDED, 420.0),
        ("s2", StepState.SUCCEEDED, {"written": True}),
    ]
    assert run.answer.text == "It is 420."


async def test_lists_are_gathered_over_pages(surface: Surface) -> None:
    """A list has as many items as asked for, however small the daemon's pages are."""
    ids = [(await surface.call("create_run", f"number {i}")).run_id for i in range(5)]
    newest_first = [run.run_id for run in await surface.call("list_runs")]
    assert newest_first == ids[::-1]
    assert len(await surface.call("list_runs", limit=3)) == 3
    assert await surface.call("list_runs", states=[RunState.FAILED]) == ()


async def test_cancelling_says_what_became_of_the_run(surface: Surface, daemon: ScriptedDaemon) -> None:
    """Cancelling ends a run that goes on and leaves one that has ended as it is."""
    daemon.runs.script = lambda _: [wire_events.created(), events_pb2.RunStarted()]
    run = await surface.call("create_run", "anything")
    assert (await surface.call("cancel_run", run.run_id, "enough")).state is RunState.CANCELLED
    assert (await surface.call("cancel_run", run.run_id)).state is RunState.CANCELLED


async def test_a_person_decides(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A decision about a suspended run lets it go on; where nothing waits it is an error."""
    suspended = events_pb2.RunSuspended(reason=parts_pb2.SUSPEND_REASON_UNKNOWN_STEP)
    daemon.runs.script = lambda _: [wire_events.created(), suspended]
    run = await surface.call("create_run", "anything")
    assert run.suspend_reason == "unknown_step"
    decided = await surface.call("decide_run", run.run_id, Resolution.DONE, "s1")
    assert decided.state is RunState.SUCCEEDED
    with pytest.raises(errors.WrongStateError, match="NOTHING_TO_DECIDE"):
        await surface.call("decide_run", run.run_id, Resolution.DONE, "s1")


async def test_tools_are_listed_shown_and_called(surface: Surface) -> None:
    """Tools come with schemas as data, and a tool that fails is a result."""
    assert [tool.name for tool in await surface.call("list_tools")] == ["echo", "fail", "loud"]
    tool = await surface.call("get_tool", "echo")
    assert (tool.effect, tool.input_schema, tool.example) == ("pure", {"type": "object"}, {"text": "hello"})
    echoed = await surface.call("call_tool", "echo", {"text": "é"})
    assert (echoed.success, echoed.data, echoed.duration_seconds) == (True, {"text": "é"}, 0.5)
    failed = await surface.call("call_tool", "fail")
    assert (failed.success, failed.error, failed.reason) == (False, "It did not work.", "TOOL_FAILED")
    with pytest.raises(errors.NotFoundError):
        await surface.call("call_tool", "nothing")


async def test_memory_keeps_json_values(surface: Surface) -> None:
    """A written value is read back unchanged, found by its prefix, and gone once deleted."""
    values = {"a/1": 420, "a/2": {"deep": [None, "é", 1.5]}, "a/3": "text", "b": None}
    for key, value in values.items():
        await surface.call("write_memory", key, value)
    assert {key: await surface.call("read_memory", key) for key in values} == values
    assert [key for key, _ in await surface.call("search_memory", "a/")] == ["a/1", "a/2", "a/3"]
    assert [await surface.call("delete_memory", "b") for _ in range(2)] == [True, False]
    with pytest.raises(errors.NotFoundError):
        await surface.call("read_memory", "b")


async def test_a_value_that_is_not_json_is_not_sent(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A value that JSON cannot carry is refused before anything is sent."""
    for value in (float("nan"), object(), {1, 2}):
        with pytest.raises(errors.InvalidInputError) as caught:
            await surface.call("write_memory", "key", value)
        assert caught.value.reason == "INVALID_JSON"
    assert daemon.memory.values == {}


async def test_text_that_is_no_unicode_never_leaves(surface: Surface, daemon: ScriptedDaemon) -> None:
    """A request with half a character in it is refused with its field, and no run is made."""
    with pytest.raises(errors.InvalidInputError) as caught:
        await surface.call("create_run", "half \ud800 a character")
    assert (caught.value.reason, caught.value.field) == ("NOT_UTF_8", "request.text")
    assert daemon.runs.runs == {}


async def test_a_bound_that_no_budget_can_have_never_leaves(surface: Surface) -> None:
    """A bound beyond what the wire carries is refused with its name."""
    with pytest.raises(errors.InvalidInputError) as caught:
        await surface.call("create_run", "anything", RunOptions(budget=Budget(tokens=2**70)))
    assert caught.value.field == "budget.tokens"


async def test_models_are_listed_loaded_and_asked(surface: Surface) -> None:
    """The catalogue, the engine and free text come through the same client."""
    (model,) = await surface.call("list_models")
    assert (model.name, model.loaded, model.default) == ("tiny", True, True)
    assert (await surface.call("unload_model")).state == "cold"
    assert (await surface.call("load_model")).state == "ready"
    assert (await surface.call("sleep_model")).state == "asleep"
    embedded = await surface.call("embed", ["a", "abc"])
    assert (embedded.model, [one.values for one in embedded.embeddings]) == (
        "letters",
        [(1.0, 0.5), (3.0, 0.5)],
    )
    assert (await surface.call("wake_model")).state == "ready"
    with pytest.raises(errors.NotFoundError):
        await surface.call("load_model", "huge")
    pieces = await surface.collect("generate", "say this again")
    assert "".join(piece.text for piece in pieces) == "say this again "
    assert (pieces[-1].finish_reason, pieces[-1].completion_tokens) == ("stop", 7)


async def test_the_daemon_tells_how_it_is(surface: Surface, daemon: ScriptedDaemon) -> None:
    """The status has state, engine and load; the client knows which socket it uses and why."""
    status = await surface.call("get_status")
    assert (status.state, status.engine.state, status.max_running_runs) == ("ready", "ready", 8)
    assert str(surface.client.socket) == f"{daemon.path} (as given)"


async def test_a_reload_tells_what_came_of_it(surface: Surface) -> None:
    """Reading the configuration again tells which keys changed and which need a restart."""
    changes = await surface.call("reload_config")
    assert changes == ConfigChanges(("log.level", "runs.max_running"), ("model.name",))


async def test_a_client_that_is_closed_says_so(daemon: ScriptedDaemon) -> None:
    """Using a client before or after its `with` is a clear error, in both kinds and for every kind of call."""
    used = AsyncClient(daemon.path), Client(daemon.path)
    async with used[0]:
        await used[0].get_status()
    with used[1]:
        run_id = (await anyio.to_thread.run_sync(used[1].create_run, "anything")).run_id
    for asynchronous, synchronous in ((AsyncClient(daemon.path), Client(daemon.path)), used):
        with pytest.raises(errors.CallCancelledError, match="use it inside"):
            await asynchronous.get_status()
        with pytest.raises(errors.CallCancelledError, match="use it inside"):
            await anext(asynchronous.generate("hello"))
        with pytest.raises(errors.CallCancelledError, match="use it inside"):
            asynchronous.watch(run_id)
        with pytest.raises(errors.CallCancelledError, match="use it inside"):
            synchronous.get_status()
        with pytest.raises(errors.CallCancelledError, match="use it inside"):
            next(synchronous.generate("hello"))
        with pytest.raises(errors.CallCancelledError, match="use it inside"):
            synchronous.watch(run_id)


async def test_entering_without_a_daemon_names_what_was_tried(tmp_path: Path) -> None:
    """No socket, no client: the error says where it looked and what it found there."""
    with pytest.raises(NoDaemonError, match="the socket does not exist") as caught:
        async with AsyncClient(tmp_path / "none.sock"):
            pass
    assert [address.path for address in caught.value.tried] == [str(tmp_path / "none.sock")]
    with pytest.raises(NoDaemonError), Client(tmp_path / "none.sock"):
        pass


async def test_a_daemon_that_goes_away_is_not_asked_for_ever(tmp_path: Path) -> None:
    """A call to a daemon that ended fails as unavailable after its tries, in both kinds."""
    for name in sorted(SURFACES):
        daemon = ScriptedDaemon(tmp_path / "aeond.sock")
        async with daemon, SURFACES[name](daemon.path, QUICK) as surface:
            await surface.call("get_status")
            await daemon.stop()
            with anyio.fail_after(60), pytest.raises(errors.UnavailableError) as caught:
                await surface.call("get_status")
            assert caught.value.reason == "CONNECTION_LOST"
