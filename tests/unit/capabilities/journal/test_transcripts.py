import json

from tests.support.journals import beginning, ending, step_turn
from tests.support.transcripts import read_lines, write_lines


def test_an_exported_run_is_read_back() -> None:
    """The lines of a run hold all that its events hold."""
    events = [*beginning("r", "grüße"), *step_turn("r", 3, {"a": [1, 2.5, None, "☃"]}), ending("r", 5)]
    assert list(read_lines(write_lines(events))) == events


def test_a_line_is_one_event_for_people_and_programs() -> None:
    """A line holds run, seq, times, kind, version and the body as an object."""
    lines = list(write_lines(beginning("r", "add\none")))
    assert [line.count("\n") for line in lines] == [0, 0]
    first = json.loads(lines[0])
    assert list(first) == ["run_id", "seq", "time", "elapsed_seconds", "kind", "version", "body"]
    assert (first["kind"], first["body"]["request"]["text"]) == ("run_created", "add\none")
