"""Knowledge about the runs that came last."""

from aeond.orchestration.last_runs import MAX_RUNS, LastRuns


def test_the_oldest_entry_makes_room() -> None:
    """Only as many entries are kept as are wanted, and replacing the value of one drops none."""
    known: LastRuns[str, int] = LastRuns(2)
    for name, value in (("a", 1), ("b", 2), ("a", 3)):
        known[name] = value
    assert known == {"a": 3, "b": 2}
    known["c"] = 4
    assert known == {"b": 2, "c": 4}


def test_sixty_four_runs_are_known() -> None:
    """Without a number of entries that of runs is the limit."""
    known: LastRuns[int, None] = LastRuns()
    for number in range(MAX_RUNS + 1):
        known[number] = None
    assert list(known) == list(range(1, MAX_RUNS + 1))
