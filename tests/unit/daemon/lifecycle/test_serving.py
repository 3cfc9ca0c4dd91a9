"""Notifications to the service manager."""

import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from aeond.daemon.config.files import load_config
from aeond.daemon.config.reloading import LiveConfig
from aeond.daemon.config.schema import Config
from aeond.daemon.lifecycle import serving
from aeond.daemon.lifecycle.serving import status_line
from aeond.domain.llm import EngineSnapshot, EngineState
from tests.support.doubles import ManualClock
from tests.support.notifications import Notifications


@dataclass
class Counts:
    """How many runs a test says that there are."""

    running_count: int = 2
    waiting_count: int = 1
    attention_count: int = 3


RUNS = "; runs: 2 running, 1 waiting, 3 need a person"


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (EngineSnapshot(EngineState.COLD), "no model: cold, the next request loads a model"),
        (EngineSnapshot(EngineState.READY, "small"), "small: ready"),
        (EngineSnapshot(EngineState.ASLEEP, "small"), "small: asleep, the next request wakes it"),
        (
            EngineSnapshot(EngineState.STARTING, "small", "downloading", 0.4),
            "small: starting, downloading 40%",
        ),
        (EngineSnapshot(EngineState.STARTING, "small"), "small: starting"),
        (EngineSnapshot(EngineState.DEAD, "small", error="it was killed"), "small: dead (it was killed)"),
    ],
)
def test_the_line_of_status_has_engine_and_runs(engine: EngineSnapshot, words: str) -> None:
    """One line shows the model's state and the number of runs that run, wait and need a person."""
    assert status_line(engine, Counts()) == words + RUNS


def test_the_line_of_status_shows_the_download_of_the_embedding_model() -> None:
    """While the embedding model is downloaded, and only then, the line says how far that is."""
    engine = EngineSnapshot(EngineState.READY, "small")
    line = status_line(engine, Counts(), 0.41)
    assert line == "small: ready; optional embedding model: downloading 41%" + RUNS
    assert "embedding" not in status_line(engine, Counts())


async def test_a_reload_during_the_start_is_carried_out_after_it(tmp_path: Path) -> None:
    """SIGHUP is answered once the daemon serves: neither is READY said before, nor a change lost."""
    file = tmp_path / "aeond.toml"
    file.write_text("[runs]\nmax_running = 9\n", encoding="utf-8")
    manager = Notifications()
    adopted: list[Config] = []
    live = LiveConfig(Config(), partial(load_config, file, required=True), manager, ManualClock())
    signals = serving.Signals(live)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await tasks.start(signals.listen)
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            await signals.stop.wait()
            assert manager.sent == []
            live.adopt_by(adopted.append)
            signals.serving()
            assert [config.runs.max_running for config in adopted] == [9]
            file.write_text("", encoding="utf-8")
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            await signals.hurry.wait()
            tasks.cancel_scope.cancel()
    assert live.config == Config()
    assert manager.sent == ["reloading since 1000", "ready"] * 2


@pytest.mark.parametrize("number", [signal.SIGUSR2, signal.SIGALRM, signal.SIGIO, signal.SIGRTMAX - 3])
async def test_a_signal_without_meaning_is_ignored(number: int, caplog: pytest.LogCaptureFixture) -> None:
    """A signal whose default is to end a process, such as SIGUSR2 or SIGALRM, leaves a record and no other trace."""
    signals = serving.Signals(LiveConfig(Config(), Config, Notifications(), ManualClock()))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await tasks.start(signals.listen)
            signal.raise_signal(number)
            signal.raise_signal(signal.SIGTERM)
            await signals.stop.wait()
            tasks.cancel_scope.cancel()
    assert f"ignored signal {number}" in caplog.text


async def test_what_the_tasks_wait_for_is_logged_on_request(caplog: pytest.LogCaptureFixture) -> None:
    """SIGUSR1 leads to a record for each task and changes nothing."""
    caplog.set_level("INFO")
    signals = serving.Signals(LiveConfig(Config(), Config, Notifications(), ManualClock()))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            await tasks.start(signals.listen)
            tasks.start_soon(anyio.sleep_forever, name="the sleeper")
            await anyio.wait_all_tasks_blocked()
            signal.raise_signal(signal.SIGUSR1)
            signal.raise_signal(signal.SIGTERM)
            await signals.stop.wait()
            tasks.cancel_scope.cancel()
    (sleeper,) = [line for line in caplog.messages if line.startswith("task the sleeper: ")]
    assert "sleep_forever" in sleeper


async def test_time_is_asked_for_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a start or a stop goes on the manager hears so, and no longer than the limit."""
    monkeypatch.setattr(serving, "EXTEND_SECONDS", 0.01)
    manager = Notifications()
    with anyio.fail_after(60):
        await serving.ask_for_time(manager, 0.05, anyio.CancelScope())
    assert len(manager.sent) > 1
    assert set(manager.sent) == {"30 s more"}


async def test_no_more_time_is_asked_for_once_it_is_over() -> None:
    """When the start is over nothing more is asked for."""
    manager, scope = Notifications(), anyio.CancelScope()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving.ask_for_time, manager, 60.0, scope)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    assert manager.sent == ["30 s more"]
