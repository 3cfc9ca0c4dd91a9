"""Knowledge about the runs that came last."""

from aeond.orchestration.last_runs import MAX_RUNS, LastRuns


def test_the_oldest_entry_makes_room() -> None:
    """Entries of so many runs are kept, and replacing the value of one drops none."""
    known: LastRuns[int, str] = LastRuns()
    for number in (*range(MAX_RUNS), 1):
        known[number] = "again" if number in known else "new"
    assert list(known) == list(range(MAX_RUNS))
    assert known[1] == "again"
    known[MAX_RUNS] = "new"
    assert list(known) == list(range(1, MAX_RUNS + 1))
