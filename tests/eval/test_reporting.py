"""Tables, JSON and the log of evaluations."""

import json
from pathlib import Path

import pytest

from tests.eval.engine_rates import EngineRates
from tests.eval.evaluation_log import LoggedRun, append_row
from tests.eval.reporting import as_json, percentile, share_of, tables
from tests.eval.verdicts import Effort, Verdict

RATES = EngineRates(read=100.0, write=20.0)


def verdict(words: str, group: str, language: str, seconds: float, failure: str = "") -> Verdict:
    effort = Effort(2, 300, 100, 10, seconds)
    missed = ("it",) if failure else ()
    return Verdict(words, group, "said", missed, effort=effort, language=language, failure=failure)


VERDICTS = [
    verdict("secret one", "files", "en", 1.0),
    verdict("secret two", "files", "de", 2.0, "wrong answer"),
    verdict("secret three", "memory", "en", 9.0, "timeout"),
]


def test_tables_count_by_group_and_by_language() -> None:
    """Each table has a line for each of its values and one for all, and failures are counted by class."""
    lines = list(tables(VERDICTS, RATES))
    assert "| files | 1 of 2 | - | 2.0 | 200 | 10 | 0.00 | 0.00 | 1.0 | 2.0 | 2.5 |" in lines
    assert "| de | 0 of 1 | - | 2.0 | 200 | 10 | 0.00 | 0.00 | 2.0 | 2.0 | 2.5 |" in lines
    assert sum(line.startswith("| all | 1 of 3") for line in lines) == 2
    assert lines[-1] == "failures: wrong answer 1, timeout 1"
    assert share_of(VERDICTS) == pytest.approx(1 / 3)


def test_json_keeps_words_to_itself_unless_they_are_shown() -> None:
    """The cases of a quiet set appear in a report without their words."""
    quiet = as_json(VERDICTS, RATES, shown=False)
    assert "secret" not in json.dumps(quiet)
    assert quiet["languages"]["en"]["right"] == 1
    assert "secret" in json.dumps(as_json(VERDICTS, RATES, shown=True))


@pytest.mark.parametrize(("share", "value"), [(0.5, 5.0), (0.95, 10.0), (0.9, 9.0), (0.0, 1.0)])
def test_percentiles_are_values_that_occurred(share: float, value: float) -> None:
    """A percentile is the smallest value that no more than the rest of the values exceeds."""
    assert percentile([float(n) for n in range(10, 0, -1)], share) == value
    assert percentile([], share) == 0.0


def test_a_run_is_a_line_of_the_log(tmp_path: Path) -> None:
    """A run is appended to its table, which says how many runs there are, and the rest of the page stays."""
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n| date | right |\n| --- | --- |\n<!-- end: open -->\n\nMore.\n", encoding="utf-8"
    )
    row = LoggedRun("2026-01-02 10:00", "abc1234", "m", VERDICTS).row()
    assert row == "| 2026-01-02 10:00 | abc1234 | m | 1/3 | 1/2 | 0/1 | 0/0 | 0/0 | 0/0 | 2.0 | 9.0 | 2.0 |"
    assert [append_row(page, "open", row) for _ in range(2)] == [1, 2]
    assert page.read_text("utf-8") == (
        f"# Page\n\n| date | right |\n| --- | --- |\n{row}\n{row}\n<!-- end: open -->\n\nMore.\n"
    )
    with pytest.raises(ValueError, match="no table"):
        append_row(page, "bfcl", row)
