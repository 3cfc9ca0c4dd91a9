"""The blocks of docs/observability.md work as they are written."""

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from aeond.daemon.exits import Exit
from aeond_client import Client, RunOptions
from aeond_client.records.runs import Plan, PlanStep
from tests.support.metrics_page import answered, request, samples
from tests.support.otlp_collector import collecting
from tests.support.ports import later_port
from tests.support.repository import ROOT
from tests.support.stages import Stage, staged

PAGE = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SECTIONS: dict[str, dict[str, Any]] = {
    name: section
    for language, text in BLOCKS
    if language == "toml"
    for name, section in tomllib.loads(text).items()
}
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
SCRIPT = {"rules": [{"text": "Fine."}]}
SECONDS = 60


def adapted(folder: Path, endpoint: str) -> dict[str, dict[str, Any]]:
    """The configuration of the page, with files and ports that this machine has."""
    key_file = folder / "metrics.key"
    key_file.touch(0o600)
    key_file.write_text("a-key\n")
    places = {"textfile": str(folder / "aeond.prom"), "port": later_port(), "key_file": str(key_file)}
    assert {*places, "enabled"} == set(SECTIONS["metrics"])
    return {
        "metrics": {**SECTIONS["metrics"], **places},
        "traces": {**SECTIONS["traces"], "endpoint": endpoint},
    }


def shell(stage: Stage, line: str) -> str:
    """The output of a command of the page."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    metrics = stage.daemon.folder / "aeond-metrics.sock"
    variables = {
        "PATH": path,
        "AEOND_SOCKET": stage.socket,
        "AEOND_METRICS": str(metrics),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-euc", line], env=variables, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), line
    return done.stdout


def program(stage: Stage) -> str:
    """The run id that the Python block of the page prints."""
    (code,) = [text for language, text in BLOCKS if language == "python"]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"AEOND_SOCKET": stage.socket, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.strip()


async def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """The configuration starts a daemon, each command prints what the page says of it, and the program's run is in the
    trace that it names."""
    async with collecting() as collector:
        with staged(tmp_path, adapted(tmp_path, collector.endpoint), SCRIPT) as stage:
            with Client(stage.socket) as client:
                plan = Plan("g", (PlanStep("s1", "say it", tool="echo", arguments={"text": "hello"}),))
                run = client.create_run("say hello", RunOptions(plan=plan))
                assert [event for event in client.watch(run.run_id) if event.seq]
            printed = {line: await asyncio.to_thread(shell, stage, line) for line in COMMANDS}
            assert printed["aeonctl top --once"].startswith("aeond   ready")
            assert "asked: say hello" in printed["aeonctl why last"]
            assert "policy" in printed["aeonctl why last s1"]
            links = [json.loads(line) for line in printed["aeonctl why last s1 --json"].splitlines()]
            assert {"request", "step", "policy", "result", "answer"} <= {link["kind"] for link in links}
            (page,) = [text for line, text in printed.items() if line.startswith("curl")]
            assert samples(page)['aeond_steps_total{mode="tool",state="succeeded"}'] == 1
            run_id = await asyncio.to_thread(program, stage)
            with Client(stage.socket) as client:
                assert [event for event in client.watch(run_id) if event.seq]
            spans = await collector.received("invoke_agent aeond", 2)
            assert await asyncio.to_thread(stage.daemon.stop) == Exit.OK
            ours = [
                span for span in spans if any(one.value.string_value == run_id for one in span.attributes)
            ]
            assert [span.trace_id.hex() for span in ours] == ["4bf92f3577b34da6a3ce929d0e0e4736"]


def test_prometheus_is_given_the_configured_port(tmp_path: Path) -> None:
    """The example for Prometheus reads the port of the example for aeond, at the path that is served, with its key."""
    (scrape,) = [text for language, text in BLOCKS if language == "yaml"]
    assert f'["127.0.0.1:{SECTIONS["metrics"]["port"]}"]' in scrape
    assert "metrics_path" not in scrape  # /metrics is Prometheus's default
    overrides = adapted(tmp_path, "http://127.0.0.1:1")
    with staged(tmp_path, overrides):
        address = ("127.0.0.1", overrides["metrics"]["port"])
        assert answered(address, request("/metrics", "authorization: Bearer a-key"))[0] == 200
