"""Recordings of real runs must replay with identical decisions.

`aeond export RUN --output tests/replay/recordings/NAME.jsonl` adds one.
"""

from pathlib import Path

import pytest

from aeond.domain.runs.run import RunSnapshot
from aeond.service.history.replays import Replay
from aeond.state_machine.decide import decide
from aeond.state_machine.fold import fold
from tests.support.folding import fold_all
from tests.support.transcripts import read_lines

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_replays_to_the_same_events(recording: Path) -> None:
    """With neither model nor tools, the recorded signals lead to the recorded events, each and in order."""
    events = list(read_lines(recording.read_text(encoding="utf-8").splitlines()))
    replay = Replay(events[0].run_id, decide, fold)
    assert [replay.next(event) for event in events] == events
    assert fold_all(RunSnapshot(events[0].run_id), events).state.ended


def test_there_are_recordings() -> None:
    """Runs of each route are among them."""
    routes = set()
    for recording in RECORDINGS:
        events = list(read_lines(recording.read_text(encoding="utf-8").splitlines()))
        routes.add(fold_all(RunSnapshot(events[0].run_id), events).route)
    assert len(routes - {None}) == 3
