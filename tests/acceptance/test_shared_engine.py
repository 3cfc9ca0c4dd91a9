"""The real daemon shares its engine out: runs go on whatever becomes of it, and by the model they were given."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond_client import AsyncClient, RunOptions
from aeond_client.calls.run_calls import ForkOptions
from aeond_client.errors import AeondError, NotFoundError
from aeond_client.records.runs import Plan, PlanStep, Run, RunState
from tests.support.collecting import ended
from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.surfaces import wait_for

THINKING = Plan(
    "thinking aloud",
    tuple(
        PlanStep(f"s{n}", f"think of {n}", agent="llm", depends_on=(f"s{n - 1}",) if n > 1 else ())
        for n in (1, 2, 3)
    ),
)


def script(**options: Any) -> dict[str, Any]:
    """Three models that each answer with their name, and take a short time to load."""
    rules = [{"model": name, "text": f"{name} thought of it"} for name in ("one", "two", "three")]
    return {"model": "one", "models": ["two", "three"], "load_seconds": 0.2, "rules": rules, **options}


@asynccontextmanager
async def daemon_with(model: dict[str, Any] | None = None, **options: Any) -> AsyncIterator[AsyncClient]:
    """A client of a daemon whose scripted engine has these options."""
    with daemon_folder() as folder:
        daemon = DaemonProcess(folder, {"model": model or {}})
        daemon.script.write_text(json.dumps(script(**options)), encoding="utf-8")
        with daemon:
            async with AsyncClient(str(daemon.admin_socket)) as client:
                yield client


async def thought(client: AsyncClient, workspace: Path, model: str = "") -> Run:
    """A run of three thoughts of this model, once it has ended."""
    run = await client.create_run("think", RunOptions(plan=THINKING, workspace=str(workspace), model=model))
    return await ended(client, run.run_id)


def thinkers(run: Run) -> set[str]:
    """The models that executed the steps."""
    assert run.state is RunState.SUCCEEDED, run.problem
    return {str(step.output).split()[0] for step in run.steps}


async def test_runs_have_the_model_that_they_ask_for(tmp_path: Path) -> None:
    """Runs of several models at the same time each have all of their steps done by theirs."""
    seen: list[tuple[str, set[str]]] = []
    with anyio.fail_after(120):
        async with daemon_with({"turn_seconds": 0.5}) as client:

            async def one(model: str) -> None:
                seen.append((model or "one", thinkers(await thought(client, tmp_path, model))))

            async with anyio.create_task_group() as tasks:
                for model in ("two", "", "three", "two", "one"):
                    tasks.start_soon(one, model)
    assert len(seen) == 5
    assert all(thought_by == {model} for model, thought_by in seen)


@pytest.mark.parametrize("sleeps", [True, False])
async def test_no_run_fails_because_its_engine_rests(tmp_path: Path, sleeps: bool) -> None:
    """Runs end well while the engine is put to sleep, woken, unloaded and loaded under them."""
    with anyio.fail_after(180):
        async with daemon_with({"turn_seconds": 0.5}, sleeps=sleeps) as client:

            async def disturb() -> None:
                changes: list[Callable[[], Awaitable[object]]] = [
                    client.sleep_model,
                    client.wake_model,
                    client.unload_model,
                    lambda: client.load_model("two"),
                    client.sleep_model,
                    lambda: client.load_model("one"),
                ]
                for change in 3 * changes:
                    await change()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(disturb)
                for model in ("", "two", "three", ""):
                    tasks.start_soon(assert_thought, client, tmp_path, model)


async def assert_thought(client: AsyncClient, workspace: Path, model: str) -> None:
    by = thinkers(await thought(client, workspace, model))
    assert not model or by == {model}


async def test_an_idle_engine_rests_and_the_next_run_wakes_it(tmp_path: Path) -> None:
    """Left alone the engine sleeps and says so; nothing of the daemon's own wakes it, a run does."""
    with anyio.fail_after(120):
        async with daemon_with({"sleep_after_seconds": 1.0}, sleeps=True) as client:

            async def is_asleep() -> bool:
                return (await client.get_status()).engine.state == "asleep"

            await wait_for(is_asleep)
            assert [model.name for model in await client.list_models() if model.loaded] == []
            assert thinkers(await thought(client, tmp_path)) == {"one"}


async def test_a_fork_goes_on_with_another_model(tmp_path: Path) -> None:
    """A run forked with another model is done by that one from there on, whichever is resident."""
    with anyio.fail_after(120):
        async with daemon_with() as client:
            first = await thought(client, tmp_path)
            forked = await client.fork_run(first.run_id, 1, ForkOptions(model="two"))
            assert thinkers(await ended(client, forked.run_id)) == {"two"}
            assert thinkers(await client.get_run(first.run_id)) == {"one"}


async def test_a_model_that_there_is_not_is_refused(tmp_path: Path) -> None:
    """Runs, forks, questions and loads that name an unknown model are not found, and no run begins."""
    with anyio.fail_after(60):
        async with daemon_with() as client:
            calls: list[Callable[[], Awaitable[object]]] = [
                lambda: thought(client, tmp_path, "nobody"),
                lambda: client.load_model("nobody"),
                lambda: anext(aiter(client.generate("hello", model="nobody"))),
            ]
            for call in calls:
                with pytest.raises(NotFoundError) as refused:
                    await call()
                assert refused.value.reason == "MODEL_NOT_FOUND"
            assert not await client.list_runs()


async def test_text_of_any_model_can_be_asked_for(tmp_path: Path) -> None:
    """A question names its model, and fails by its own deadline when that does not get its turn."""
    with anyio.fail_after(60):
        async with daemon_with({"turn_seconds": 0.5}) as client:
            text = "".join([piece.text async for piece in client.generate("hello", model="three")])
            assert text == "three thought of it"
        async with daemon_with(load_seconds=1_000.0) as client:
            with pytest.raises(AeondError):
                async for _ in client.generate("hello", model="two", timeout_seconds=1.0):
                    pass
