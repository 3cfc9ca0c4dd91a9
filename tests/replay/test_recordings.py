"""Recordings of real runs, replayed for ever: what was decided then is decided now.

`aeond export RUN --output tests/replay/recordings/NAME.jsonl` makes one more.
"""

from pathlib import Path

import pytest

from aeond.capabilities.journal.transcripts import read_lines
from aeond.domain.runs import RunSnapshot
from aeond.kernel.decide import decide
from aeond.kernel.fold import fold, fold_all
from aeond.service.replaying import Replay

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
