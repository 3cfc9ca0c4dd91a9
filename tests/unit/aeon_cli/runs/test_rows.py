"""A checklist as rows that fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aeon_cli.runs.checklist import Checklist, Line
from aeon_cli.runs.rows import Row, rows_of, step_row
from aeon_cli.text.printable import one_line, width_of
from aeond_client.records.runs import StepState

STATES = list(StepState)


def text_of(row: Row) -> str:
    return "".join(text for text, _ in row)


def drawn(checklist: Checklist, *, columns: int = 60, lines: int = 24, unicode: bool = True) -> list[str]:
    rows = rows_of(checklist, columns=columns, lines=lines, unicode=unicode, now=100.0, frame=0)
    return [text_of(row) for row in rows]


@given(
    st.builds(
        Line,
        step_id=st.just("s"),
        title=st.text().map(one_line),
        state=st.sampled_from(STATES),
        detail=st.text().map(one_line),
        text=st.text(),
        started_time=st.floats(0, 100),
        duration_seconds=st.floats(0, 1e9),
    ),
    st.integers(20, 200),
    st.booleans(),
)
def test_a_row_never_exceeds_the_width(line: Line, columns: int, unicode: bool) -> None:
    """Whatever is in a step, its line fits the terminal."""
    row = step_row(line, columns=columns, unicode=unicode, now=100.0, frame=3)
    assert width_of(text_of(row)) <= columns


def test_shape_tells_each_state() -> None:
    """Steps that are done, failed, skipped, unknown and waiting have signs of their own, in ASCII too."""
    lines = tuple(
        Line(state, state, state)
        for state in (
            StepState.SUCCEEDED,
            StepState.FAILED,
            StepState.SKIPPED,
            StepState.UNKNOWN,
            StepState.PENDING,
        )
    )
    checklist = Checklist(lines=lines, activity="")
    assert [row[0] for row in drawn(checklist)] == ["✓", "✗", "–", "?", "·"]  # noqa: RUF001 - the sign itself
    plain = drawn(checklist, unicode=False)
    assert [row[0] for row in plain] == ["+", "x", "-", "?", "."]
    assert all(row.isascii() for row in plain)


def test_durations_stand_in_one_column() -> None:
    """The times of all steps end at the same place, whatever stands before them."""
    lines = (
        Line("a", "短い", StepState.SUCCEEDED, "結果", duration_seconds=1.0),
        Line("b", "a long title " * 9, StepState.FAILED, "a long error " * 9, duration_seconds=70.0),
        Line("c", "c", StepState.RUNNING, started_time=10.0),
    )
    rows = drawn(Checklist(lines=lines, activity=""))
    assert [row[-5:] for row in rows] == [" 1.0s", "1m10s", "1m30s"]
    assert {width_of(row) for row in rows} == {60}


def test_the_error_gets_more_room_than_the_title() -> None:
    """A failed step in a narrow terminal says why rather than with what."""
    (row,) = drawn(
        Checklist(lines=(Line("a", "x" * 80, StepState.FAILED, "y" * 80),), activity=""), columns=40
    )
    assert row.count("y") > row.count("x")


def test_of_growing_text_the_end_is_shown() -> None:
    """While an agent writes, its line shows the newest words."""
    line = Line("a", "write", StepState.RUNNING, text="word " * 50 + "newest", started_time=99.0)
    (row,) = drawn(Checklist(lines=(line,), activity=""))
    assert row.rstrip(" 1.0s").endswith("newest")


def test_the_steps_at_work_stay_in_sight() -> None:
    """A plan longer than the terminal is cut around what runs, and tells what it hides."""
    lines = tuple(
        Line(
            f"s{n}",
            f"step {n}",
            StepState.SUCCEEDED if n < 30 else StepState.RUNNING if n == 30 else StepState.PENDING,
        )
        for n in range(50)
    )
    rows = drawn(Checklist(lines=lines, activity=""), lines=12)
    assert len(rows) <= 12
    assert any("step 30" in row for row in rows)
    assert (rows[0], rows[-1]) == ("  29 steps above", "  11 steps below")


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_progress_has_a_bar_where_there_is_room(columns: int) -> None:
    """How far something is stands in figures always, and as a bar where one fits."""
    (row,) = drawn(Checklist(activity="loading", fraction=0.5, activity_time=99.0), columns=columns)
    assert "loading 50%" in row
    assert row.endswith("1.0s")
    assert width_of(row) <= columns
    assert ("━" in row) == (columns >= 40)
