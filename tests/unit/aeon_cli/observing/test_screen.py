"""The display of `aeonctl top`."""

import json
from threading import Event
from typing import cast

import pytest

from aeon_cli.observing.overview import MOST_RUNS
from aeon_cli.observing.screen import follow
from aeond_client.client import Client
from aeond_client.errors import NoDaemonError
from aeond_client.records.daemon import DaemonStatus
from aeond_client.records.models import Engine
from aeond_client.records.runs import Run, RunState, RunSummary

STATUS = DaemonStatus("1.0", "ready", 7, 0.0, 60.0, Engine("ready", "small"))
AWAY = NoDaemonError("The daemon does not respond.")


class Answers:
    """A client of a daemon with many runs at work, whose status is asked for once for each of these answers."""

    def __init__(self, *answers: DaemonStatus | NoDaemonError) -> None:
        self._answers = list(answers)
        self.stop = Event()

    def get_status(self) -> DaemonStatus:
        answer = self._answers.pop(0)
        if not self._answers:
            self.stop.set()
        if isinstance(answer, NoDaemonError):
            raise answer
        return answer

    def list_runs(self, states: list[RunState], limit: int) -> list[RunSummary]:
        if states != [RunState.RUNNING]:
            return []
        return [RunSummary(f"r{number}", RunState.RUNNING, "", 0.0, 0.0, 1) for number in range(limit)]

    def get_run(self, run_id: str) -> Run:
        return Run(run_id, RunState.RUNNING, "")


def test_json_has_all_looks_and_no_stale_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Each look is an object with as many runs as `--once` prints, and there is none while the daemon is away."""
    client = Answers(STATUS, AWAY, STATUS)
    follow(cast("Client", client), 0.0, as_json=True, stop=client.stop)
    looks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(look["runs"]) for look in looks] == [MOST_RUNS, MOST_RUNS]
    assert looks[0]["more_runs"]
