from aeond.orchestration.decision.results import result_of, results_length, turns_of
from tests.support.judging import ran
from tests.support.strategy import calls

LOOK = calls("s1", "look", path="garden")


def test_turns_share_the_room() -> None:
    """Long results are shortened to the room that all have together."""
    step = ran(LOOK, output="x" * 1_000)
    (turn,) = turns_of([step], 300)
    assert turn.call.tool == "look"
    assert len(turn.result) < 400
    assert results_length([step]) == 1_000
    assert result_of(step) == "x" * 1_000
