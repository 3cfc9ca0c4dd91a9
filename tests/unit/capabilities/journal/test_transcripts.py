import json
from pathlib import Path

import pytest

from aeond.capabilities.journal.in_memory_journal import InMemoryJournal
from aeond.capabilities.journal.transcripts import import_run, read_lines, write_lines
from aeond.errors import AlreadyExistsError, InvalidInputError, ReplayError
from aeond.ports import Journal
from tests.support.journals import all_events, beginning, ending, journal, step_turn

__all__ = ["journal"]


async def test_a_run_goes_from_one_journal_into_another(journal: Journal, tmp_path: Path) -> None:
    """What is written down of one journal and imported into another is the same run, summary and all."""
    first = InMemoryJournal()
    await first.append(beginning("r", "grüße"))
    for seq in range(3, 603, 2):
        await first.append(step_turn("r", seq, {"a": [1, 2.5, None, "☃"]}))
    await first.append([ending("r", 603)])

    lines = write_lines(await all_events(first, "r"))
    (tmp_path / "run.jsonl").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    with (tmp_path / "run.jsonl").open(encoding="utf-8") as file:
        assert await import_run(journal, file) == 603
    assert await all_events(journal, "r") == await all_events(first, "r")
    assert await journal.summary("r") == await first.summary("r")


async def test_a_run_is_imported_once(journal: Journal) -> None:
    """A run that is there already is not imported over."""
    lines = list(write_lines(beginning("r")))
    assert await import_run(journal, lines) == 2
    with pytest.raises(AlreadyExistsError):
        await import_run(journal, lines)


def test_a_line_is_one_event_for_people_and_programs() -> None:
    """A line holds run, seq, times, kind, version and the body as an object."""
    lines = list(write_lines(beginning("r", "add\none")))
    assert [line.count("\n") for line in lines] == [0, 0]
    first = json.loads(lines[0])
    assert list(first) == ["run_id", "seq", "time", "elapsed_seconds", "kind", "version", "body"]
    assert (first["kind"], first["body"]["request"]["text"]) == ("run_created", "add\none")


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "3", '{"run_id": "r"}', '{"run_id":"r","seq":"x"}', "[" * 100_000],
    ids=lambda x: x[:9],
)
def test_a_line_that_is_no_event_is_named(line: str) -> None:
    """A line that is no event is an error that says which line it is."""
    with pytest.raises(InvalidInputError, match="line 2") as refused:
        list(read_lines([next(write_lines(beginning("r"))), line]))
    assert refused.value.reason == "TRANSCRIPT_INVALID"


def test_a_line_of_a_newer_version_is_refused() -> None:
    """A transcript that a newer program wrote is not guessed at."""
    line = json.dumps(json.loads(next(write_lines(beginning("r")))) | {"version": 10_000})
    with pytest.raises(ReplayError) as refused:
        list(read_lines([line]))
    assert refused.value.reason == "EVENT_NEWER"
