"""Guarantees for clients, of the real daemon and of the scripted one in tests of clients."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

from aeond_client import AsyncClient, Plan, PlanStep, Resolution, RunOptions, RunState, errors
from aeond_client.events import RunCreated, RunEnded
from tests.support.daemon_process import DaemonProcess, daemon_folder, running_daemon
from tests.support.scripted_daemon import ScriptedDaemon

PLAN = Plan("an echo", (PlanStep("s1", "say it", tool="echo", arguments={"text": "hello"}),))


@pytest.fixture(scope="module")
def real_daemon() -> Iterator[DaemonProcess]:
    """The real daemon, one for all tests."""
    with running_daemon() as daemon:
        yield daemon


@pytest.fixture(params=["real", "scripted"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[AsyncClient]:
    if request.param == "scripted":
        with daemon_folder() as folder:
            async with ScriptedDaemon(folder / "aeond.sock") as daemon, AsyncClient(daemon.path) as client:
                yield client
        return
    async with AsyncClient(request.getfixturevalue("real_daemon").admin_socket) as client:
        yield client


async def ended_run(client: AsyncClient) -> str:
    """The id of a run that has ended well."""
    run = await client.create_run("say hello", RunOptions(plan=PLAN))
    with anyio.fail_after(60):
        async for event in client.watch(run.run_id):
            assert event.run_id == run.run_id
    return run.run_id


async def test_a_run_is_watched_gapless_to_its_end(client: AsyncClient) -> None:
    """The numbers of a run's events count from 1 without a gap, the first is its creation, the last its end."""
    with anyio.fail_after(60):
        events = [event async for event in client.ask("say hello", RunOptions(plan=PLAN))]
    numbered = [event for event in events if event.seq]
    assert [event.seq for event in numbered] == list(range(1, len(numbered) + 1))
    assert isinstance(numbered[0].kind, RunCreated)
    assert numbered[-1].kind == RunEnded(RunState.SUCCEEDED)
    assert (await client.get_run(numbered[0].run_id)).last_seq == numbered[-1].seq


async def test_a_watch_goes_on_after_a_number(client: AsyncClient) -> None:
    """The events after a number are the same for every late watcher."""
    run_id = await ended_run(client)
    all_of_it = [event.seq async for event in client.watch(run_id) if event.seq]
    assert [event.seq async for event in client.watch(run_id, 3)] == all_of_it[3:]


async def test_a_watch_ahead_of_the_run_is_refused(client: AsyncClient) -> None:
    """A number that the run has not reached is an error that names the field."""
    run_id = await ended_run(client)
    with pytest.raises(errors.InvalidInputError) as caught:
        await anext(client.watch(run_id, 1_000))
    assert (caught.value.reason, caught.value.field) == ("SEQ_AHEAD", "after_seq")


async def test_a_request_id_makes_one_run(client: AsyncClient) -> None:
    """The same request id is the same run, whatever became of it."""
    options = RunOptions(plan=PLAN)
    before = await client.list_runs()
    first = await client.create_run("say hello", options, request_id="mine")
    assert (await client.create_run("say hello", options, request_id="mine")).run_id == first.run_id
    assert [run.run_id for run in await client.list_runs()] == [
        first.run_id,
        *(run.run_id for run in before),
    ]


async def test_each_missing_object_has_its_own_reason(client: AsyncClient) -> None:
    """Missing runs, tools, keys and models have distinct stable reasons."""
    reasons = {}
    for name, asked in {
        "run": client.get_run("nowhere"),
        "watch": anext(client.watch("nowhere")),
        "cancel": client.cancel_run("nowhere"),
        "tool": client.get_tool("nowhere"),
        "call": client.call_tool("nowhere"),
        "key": client.read_memory("nowhere"),
        "model": client.load_model("nowhere"),
    }.items():
        with pytest.raises(errors.NotFoundError) as caught:
            await asked
        reasons[name] = caught.value.reason
    assert reasons == {
        "run": "RUN_NOT_FOUND",
        "watch": "RUN_NOT_FOUND",
        "cancel": "RUN_NOT_FOUND",
        "tool": "TOOL_NOT_FOUND",
        "call": "TOOL_NOT_FOUND",
        "key": "KEY_NOT_FOUND",
        "model": "MODEL_NOT_FOUND",
    }


async def test_a_wrong_request_names_its_field(client: AsyncClient) -> None:
    """An empty request and an empty key are refused with the part that is at fault."""
    with pytest.raises(errors.InvalidInputError) as caught:
        await client.create_run("")
    assert caught.value.field == "request.text"
    with pytest.raises(errors.InvalidInputError) as caught:
        await client.write_memory("", 1)
    assert caught.value.field == "key"


async def test_nothing_to_decide_is_said(client: AsyncClient) -> None:
    """A decision that nothing waits for is refused, and an ended run stays as it is."""
    run_id = await ended_run(client)
    with pytest.raises(errors.WrongStateError) as caught:
        await client.decide_run(run_id, Resolution.RETRY)
    assert caught.value.reason == "NOTHING_TO_DECIDE"
    assert (await client.cancel_run(run_id)).state is RunState.SUCCEEDED


async def test_lists_are_paged_and_sorted(client: AsyncClient, tmp_path: Path) -> None:
    """Runs come newest first, keys and tools by name, however many there are."""
    runs = [await ended_run(client) for _ in range(3)]
    assert [run.run_id for run in await client.list_runs()][:3] == runs[::-1]
    assert await client.list_runs(states=[RunState.FAILED]) == ()
    for key in ("b", "a/2", "a/1"):
        await client.write_memory(key, str(tmp_path))
    assert [key for key, _ in await client.search_memory("a/")] == ["a/1", "a/2"]
    names = [tool.name for tool in await client.list_tools()]
    assert names == sorted(names)
    assert "echo" in names


async def test_memory_and_tools_do_what_they_say(client: AsyncClient) -> None:
    """Values come back as they were written, a deleted key is gone, an echo is an echo."""
    await client.write_memory("key", {"deep": [None, 1.5, "é"]})
    assert await client.read_memory("key") == {"deep": [None, 1.5, "é"]}
    assert [await client.delete_memory("key") for _ in range(2)] == [True, False]
    echoed = await client.call_tool("echo", {"text": "hello"})
    assert (echoed.success, echoed.data["text"], echoed.duration_seconds >= 0) == (True, "hello", True)


async def test_the_daemon_is_ready(client: AsyncClient) -> None:
    """A daemon that answers says that it is ready, and with which model."""
    status = await client.get_status()
    assert (status.state, status.engine.state) == ("ready", "ready")
    assert any(model.loaded for model in await client.list_models())
