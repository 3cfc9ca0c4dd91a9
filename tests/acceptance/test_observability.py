"""Metrics and traces of the real daemon."""

import asyncio
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import grpc.aio
import pytest
from anyio.lowlevel import checkpoint
from prometheus_client.parser import text_string_to_metric_families

from aeond.api.v1 import parts_pb2, runs_pb2, runs_pb2_grpc
from aeond.capabilities.journal.sqlite_journal import SqliteJournal
from aeond.daemon.exits import Exit
from aeond.domain.runs.budgets import DIMENSIONS
from aeond.domain.runs.events import Event
from aeond.domain.runs.run import RunSnapshot
from aeond_client import Client, RunOptions
from aeond_client.records.runs import RunState
from tests.support.collecting import Collector as Watched
from tests.support.daemon_process import DaemonProcess
from tests.support.event_counts import said
from tests.support.folding import fold_all
from tests.support.journals import all_events
from tests.support.ledgers import chain, deed
from tests.support.metrics_page import Samples, answered, request, scraped
from tests.support.otlp_collector import attributes, collecting
from tests.support.ports import later_port
from tests.support.stages import Stage, staged

ON: dict[str, dict[str, Any]] = {"metrics": {"enabled": True}}
SCRIPT = {"rules": [{"text": "An answer."}]}
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SECONDS = 30.0


def metrics_socket(daemon: DaemonProcess) -> Path:
    return daemon.folder / "aeond-metrics.sock"


async def journal_of(daemon: DaemonProcess, run_ids: Sequence[str]) -> list[list[Event]]:
    """Every event of the runs; the daemon must not be running."""
    async with SqliteJournal(daemon.state_dir / "journal.db") as journal:
        return [await all_events(journal, run_id) for run_id in run_ids]


def folded(events: Sequence[Event]) -> RunSnapshot:
    return fold_all(RunSnapshot(events[0].run_id), events)


def ended(client: Client, run_id: str) -> RunState:
    """The state of a run, once it has ended."""
    for _ in client.watch(run_id):
        pass
    return client.get_run(run_id).state


def total(found: Samples, name: str, label: str = "") -> float:
    """The sum over all samples of a metric that have this label."""
    return sum(
        value for sample, value in found.items() if sample.partition("{")[0] == name and label in sample
    )


async def shown(daemon: DaemonProcess, ended_runs: int) -> Samples:
    """The metrics, once so many runs have ended: events are counted just after they are on disk."""
    with anyio.fail_after(SECONDS):
        while total(found := scraped(metrics_socket(daemon)), "aeond_runs_ended_total") != ended_runs:
            await checkpoint()
    return found


async def test_the_metrics_are_those_of_the_journal_after_kills(tmp_path: Path) -> None:
    """After SIGKILL in the middle of a step the metrics count what the journal has since, and its states."""
    with staged(tmp_path, ON, SCRIPT) as stage:
        daemon, gate = stage.daemon, stage.gate()
        plan = chain(deed("s1", "pure"), deed("s2", "look", gate=gate), deed("s3", "pure"))
        with Client(stage.socket) as client:
            asked = client.create_run("hello")
            assert ended(client, asked.run_id).ended
            held = client.create_run("chain", RunOptions(plan=plan))
            gate.held()
            run_ids = (asked.run_id, held.run_id)
            for _ in range(2):
                daemon.kill()
                before = await journal_of(daemon, run_ids)
                daemon.start()
                gate.held()
            found = scraped(metrics_socket(daemon))
            assert found['aeond_runs{state="running"}'] == 1
            assert found["aeond_runs_active"] == 1
            assert found["aeond_runs_resumed_total"] == 1
            gate.open()
            with Watched(stage.socket, held.run_id) as seen:
                seen.wait_for_end()
            again = client.create_run("hello again")
            assert ended(client, again.run_id).ended
        found = await shown(daemon, 2)
        assert daemon.stop() == Exit.OK
        after = await journal_of(daemon, (*run_ids, again.run_id))
        parts = [events[len(old) :] for events, old in zip(after, (*before, []), strict=True)]
        expected = said([event for part in parts for event in part])
        assert total(found, "aeond_runs_created_total") == expected["created"] == 1
        assert total(found, "aeond_runs_resumed_total") == expected["resumed"] == 1
        for dimension in DIMENSIONS:
            amounts = expected["used"]
            assert isinstance(amounts, dict)
            assert total(found, "aeond_budget_used_total", f'dimension="{dimension}"') == amounts[dimension]
        assert total(found, "aeond_model_tokens_total") == expected["tokens"] != 0
        steps = expected["steps"]
        assert isinstance(steps, dict)
        assert {
            (mode, state): found[f'aeond_steps_total{{mode="{mode}",state="{state}"}}']
            for mode, state in steps
        } == steps
        states = Counter(folded(events).state for events in after)
        assert {state: found[f'aeond_runs{{state="{state}"}}'] for state in states} == states
        assert found['aeond_runs{state="running"}'] == 0
        assert found["aeond_commit_seconds_count"] > 0


async def test_only_the_daemon_s_user_reads_the_metrics(tmp_path: Path) -> None:
    """The socket is closed to other users, a port needs the key, and the file is for node_exporter."""
    port = later_port()
    key_file = tmp_path / "key"
    key_file.touch(0o600)
    key_file.write_text("a-key\n")
    textfile = tmp_path / "aeond.prom"
    section = {
        **ON["metrics"],
        "port": port,
        "key_file": str(key_file),
        "textfile": str(textfile),
        "textfile_seconds": 1.0,
    }
    with staged(tmp_path, {"metrics": section}) as stage:
        path = metrics_socket(stage.daemon)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        address = ("127.0.0.1", port)
        assert answered(address, request())[0] == 401
        status, _, page = answered(address, request("/metrics", "authorization: Bearer a-key"))
        assert status == 200
        assert "aeond_runs_active" in page
        with anyio.fail_after(SECONDS):
            while not textfile.exists():
                await asyncio.to_thread(scraped, path)
        families = {family.name for family in text_string_to_metric_families(textfile.read_text())}
        assert "aeond_runs_active" in families
        assert stage.daemon.stop() == Exit.OK
    assert not path.exists()
    assert not textfile.exists()


def test_metrics_are_off_by_default(tmp_path: Path) -> None:
    """Without the key in the configuration there is no socket, and no library of metrics or traces is loaded."""
    on = {**ON, "traces": {"endpoint": "http://127.0.0.1:1"}}
    for number, (overrides, loaded) in enumerate(((None, False), (on, True))):
        folder = tmp_path / str(number)
        folder.mkdir()
        daemon = DaemonProcess(folder, overrides)
        daemon.environment["PYTHONPROFILEIMPORTTIME"] = "1"
        with daemon:
            assert metrics_socket(daemon).exists() is loaded
            assert [name in daemon.log for name in ("prometheus_client", "opentelemetry")] == [loaded] * 2
    with pytest.raises(AssertionError, match=r"metrics\.port needs a key"):
        DaemonProcess(tmp_path, {"metrics": {"enabled": True, "port": 1}}).start()


async def traced_run(stage: Stage, **request: Any) -> str:
    """A run requested with a trace context, once it has ended."""
    async with grpc.aio.insecure_channel(f"unix:{stage.socket}") as channel:
        stub = runs_pb2_grpc.RunServiceStub(channel)
        asked = runs_pb2.RunAndWatchRequest(request=parts_pb2.RunRequest(text="hello"), **request)
        header = (("traceparent", f"00-{TRACE}-{SPAN}-01"),)
        run_id = ""
        async for response in stub.RunAndWatch(asked, timeout=SECONDS, metadata=header):
            run_id = next((event.run_id for event in response.events if event.run_id), run_id)
    return run_id


async def test_a_trace_continues_that_of_the_client(tmp_path: Path) -> None:
    """A run requested with a traceparent is exported below the client's span, with its operations and model calls;
    a restart in between changes nothing."""
    async with collecting() as collector:
        with staged(tmp_path, {"traces": {"endpoint": collector.endpoint}}, SCRIPT) as stage:
            run_id = await traced_run(stage)
            spans = await collector.received("invoke_agent aeond")
            root = next(span for span in spans if span.name == "invoke_agent aeond")
            assert (root.trace_id.hex(), root.parent_span_id.hex()) == (TRACE, SPAN)
            assert attributes(root)["aeond.run.id"] == run_id
            assert {span.trace_id for span in spans} == {root.trace_id}
            models = [span for span in spans if attributes(span).get("gen_ai.operation.name") == "chat"]
            assert models
            assert all(attributes(span)["gen_ai.usage.input_tokens"] > 0 for span in models)  # type: ignore[operator] # a number
            above = {span.span_id: span for span in spans}
            assert {above[span.parent_span_id].parent_span_id for span in models} == {root.span_id}


async def test_a_run_over_a_restart_is_one_trace(tmp_path: Path) -> None:
    """A run that a kill interrupted is exported whole by the daemon that ended it, with both starts of the step."""
    async with collecting() as collector:
        with staged(tmp_path, {"traces": {"endpoint": collector.endpoint}}, SCRIPT) as stage:
            gate = stage.gate()
            plan = chain(deed("s1", "look", gate=gate))
            with Client(stage.socket) as client:
                run = await asyncio.to_thread(client.create_run, "chain", RunOptions(plan=plan))
                await asyncio.to_thread(gate.held)
                await asyncio.to_thread(stage.daemon.restart)
                await asyncio.to_thread(gate.open)
                assert await asyncio.to_thread(ended, client, run.run_id) is RunState.SUCCEEDED
            spans = await collector.received("invoke_agent aeond")
            assert await asyncio.to_thread(stage.daemon.stop) == Exit.OK
            steps = [attributes(span) for span in spans if span.name == "step tool"]
            assert [(step["aeond.step.attempt"], step["aeond.state"]) for step in steps] == [
                (1, "interrupted"),
                (2, "succeeded"),
            ]
            (tool,) = [span for span in spans if span.name == "execute_tool look"]
            assert attributes(tool)["gen_ai.tool.name"] == "look"


async def test_a_collector_that_is_away_disturbs_nothing(tmp_path: Path) -> None:
    """Without a listener at the endpoint runs work as ever, and the daemon stops in time."""
    with staged(tmp_path, {**ON, "traces": {"endpoint": "http://127.0.0.1:1"}}, SCRIPT) as stage:
        with Client(stage.socket) as client:
            run = await asyncio.to_thread(client.create_run, "hello")
            assert (await asyncio.to_thread(ended, client, run.run_id)).ended
        assert stage.daemon.stop() == Exit.OK
