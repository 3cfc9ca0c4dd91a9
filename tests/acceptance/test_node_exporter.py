"""A real node_exporter reads the file with the metrics of the real daemon."""

from pathlib import Path

from aeond.observability.families import FAMILIES
from aeond_client import Client
from aeond_client.events import RunEnded
from tests.support.collecting import Collector
from tests.support.metrics_table import type_of
from tests.support.prometheus import Server, needs_node_exporter, node_exporter
from tests.support.stages import staged

pytestmark = needs_node_exporter

SCRIPT = {"rules": [{"json": {"answer": "Fine."}}]}
ENDED = 'aeond_runs_ended_total{state="succeeded"} '


def lines_of(server: Server) -> list[str]:
    """The lines of the page that the exporter shows now."""
    answer = server.get("/metrics")
    assert answer.status_code == 200, answer.text
    return answer.text.splitlines()


def test_the_exporter_shows_the_metrics_of_the_daemon_from_its_file(tmp_path: Path) -> None:
    """node_exporter shows every metric of the daemon with its type, meaning and latest value, reports no error of its own, and shows
    none after the daemon was stopped."""
    textfiles = tmp_path / "textfiles"
    textfiles.mkdir()
    metrics = {"enabled": True, "textfile": str(textfiles / "aeond.prom"), "textfile_seconds": 1.0}
    with (
        staged(tmp_path, {"metrics": metrics}, SCRIPT) as stage,
        node_exporter(tmp_path, textfiles) as server,
    ):
        with (
            Client(stage.socket) as client,
            Collector(stage.socket, client.create_run("hello").run_id) as seen,
        ):
            seen.wait_for(RunEnded)
        server.wait_until(lambda: f"{ENDED}1" in lines_of(server))
        lines = set(lines_of(server))
        for family in FAMILIES:
            name = f"{family.name}_total" if type_of(family) == "counter" else family.name
            assert {f"# TYPE {name} {type_of(family)}", f"# HELP {name} {family.meaning}"} <= lines
        assert "node_textfile_scrape_error 0" in lines
        stage.daemon.stop()
        assert [line for line in lines_of(server) if "aeond_" in line] == []
        assert "level=error" not in server.log
