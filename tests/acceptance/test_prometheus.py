"""A real Prometheus reads the metrics of the real daemon."""

import subprocess
from collections.abc import Iterator
from math import isnan
from pathlib import Path

import pytest

from aeond.observability.families import FAMILIES
from aeond_client import Client, RunOptions
from aeond_client.events import ApprovalRequested, EventKind, InputRequested, RunEnded
from aeond_client.records.runs import Plan, PlanStep
from tests.support.collecting import Collector
from tests.support.dashboard import QUERIES
from tests.support.metrics_page import answered, request
from tests.support.metrics_table import PAGE, type_of
from tests.support.ports import later_port
from tests.support.prometheus import needs_prometheus, prometheus
from tests.support.stages import Stage, staged
from tests.support.tutorial import blocks

pytestmark = needs_prometheus


def call(tool: str, **arguments: str) -> Plan:
    return Plan("", (PlanStep("s1", "", tool, arguments),))


SCRIPT = {"rules": [{"json": {"answer": "Fine."}}]}
# Runs by their plan, or without one by the model, each with the last event that it has for now.
RUNS: tuple[tuple[Plan | None, type[EventKind]], ...] = (
    (None, RunEnded),
    (call("echo", text="hello"), RunEnded),
    (call("read_file", path="missing.txt"), RunEnded),
    (call("write_file", path="new.txt", content="new"), ApprovalRequested),
    (call("request_user_input", prompt="Which?"), InputRequested),
)
ALL_SCRAPED = (
    'aeond_runs_ended_total{state="succeeded"} == 2 and on() aeond_runs_ended_total{state="failed"} == 1'
    " and on() aeond_approvals_open == 1 and on() aeond_questions_open == 1"
)
WINDOW = "1h"  # longer than the test, so that a rate sees all of it


@pytest.fixture
def port() -> int:
    return later_port()


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "metrics.key"
    path.touch(0o600)
    path.write_text("a-key\n")
    return path


@pytest.fixture
def stage(tmp_path: Path, port: int, key_file: Path) -> Iterator[Stage]:
    """A daemon that shows metrics on a port, and asks before it writes."""
    metrics = {"enabled": True, "port": port, "key_file": str(key_file)}
    with staged(tmp_path, {"metrics": metrics, "policy": {"profile": "ask"}}, SCRIPT) as stage:
        yield stage


def work(stage: Stage) -> None:
    """Runs that succeed, fail, and wait for an approval and for an answer."""
    with Client(stage.socket) as client:
        for plan, last in RUNS:
            run = client.create_run("hello", RunOptions(plan=plan, workspace=str(stage.workspace)))
            with Collector(stage.socket, run.run_id) as seen:
                seen.wait_for(last)


def test_every_query_of_the_dashboard_gives_a_number(
    tmp_path: Path, stage: Stage, port: int, key_file: Path
) -> None:
    """Prometheus, with the configuration of the page on observability, knows every metric, and each query of the dashboard
    gives a number after one run of each kind."""
    (config,) = [block.text for block in blocks(PAGE) if block.language == "yaml"]
    config = config.replace("127.0.0.1:9464", f"127.0.0.1:{port}")
    with prometheus(tmp_path, config.replace("/etc/prometheus/aeond.key", str(key_file))) as server:
        # A rate is an increase over an earlier page.
        server.wait_until(lambda: server.values("aeond_runs_active"))
        work(stage)
        server.wait_until(lambda: server.values(ALL_SCRAPED))
        known = {family.name: (type_of(family), family.meaning) for family in FAMILIES}
        assert known.items() <= server.metrics().items()
        found = {query: server.values(query.replace("$__rate_interval", WINDOW)) for _, query in QUERIES}
        assert [query for query, values in found.items() if all(map(isnan, values))] == []


def test_promtool_finds_no_fault_in_the_page(stage: Stage) -> None:
    """Prometheus's own check of names, types and descriptions has nothing to say about the page of a daemon that has worked."""
    work(stage)
    status, _, page = answered(stage.daemon.folder / "aeond-metrics.sock", request())
    assert status == 200
    check = ["promtool", "check", "metrics"]
    checked = subprocess.run(check, input=page, capture_output=True, text=True, timeout=60, check=False)
    assert (checked.stdout + checked.stderr, checked.returncode) == ("", 0)
