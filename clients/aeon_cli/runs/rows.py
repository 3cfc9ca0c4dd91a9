"""Renders a checklist as rows of cells that fit a width, for both views.

A row is a list of (text, style); the plain view ignores the styles, which are names of rich styles.
"""

from aeon_cli.runs.checklist import Checklist, Line
from aeon_cli.text import symbols
from aeon_cli.text.printable import fit, fit_end, one_line, width_of
from aeon_cli.text.titles import counted, duration_in_words
from aeond_client.records.runs import StepState

Row = list[tuple[str, str]]

# Longer lines are hard to read: the duration is too far from the title.
_WIDEST = 100
_DURATION_CELLS = 6
_TEXT_CHARACTERS = 200
_TIMED = {StepState.RUNNING, StepState.SUCCEEDED, StepState.FAILED, StepState.INVALID, StepState.UNKNOWN}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_SPINNER = "|/-\\"


def step_row(line: Line, *, columns: int, unicode: bool, now: float, frame: int = -1) -> Row:
    """One step on one line. `frame` selects the frame of a running step's spinner; -1 draws a still
    symbol.
    """
    mark = symbols.OF_STEP[line.state]
    running = line.state is StepState.RUNNING
    sign = _turning(frame, unicode=unicode) if running and frame >= 0 else mark.shown(unicode=unicode)
    room = min(columns, _WIDEST) - 2 - _DURATION_CELLS - 1
    title, detail = _share(line, room, unicode=unicode)
    row: Row = [(f"{sign} ", mark.colour), (title, _title_style(line))]
    if detail:
        row.append((arrow(unicode=unicode) + detail, "red" if mark is symbols.FAILED else "bright_black"))
    if line.state in _TIMED:
        seconds = now - line.started_time if running else line.duration_seconds
        used = sum(width_of(text) for text, _ in row) - 2
        row.append(
            (" " * (room - used + 1) + duration_in_words(seconds).rjust(_DURATION_CELLS), "bright_black")
        )
    return row


def activity_row(shown: Checklist, *, columns: int, unicode: bool, now: float, frame: int) -> Row:
    """The current activity, with a progress bar if its progress is known."""
    sign = _turning(frame, unicode=unicode)
    room = min(columns, _WIDEST) - 2 - _DURATION_CELLS - 1
    percent = "" if shown.fraction < 0 else f" {shown.fraction:.0%}"
    words = fit(one_line(shown.activity), room - len(percent), ellipsis=_ellipsis(unicode=unicode)) + percent
    row: Row = [(f"{sign} ", "cyan"), (words, "")]
    bar_cells = min(room - width_of(words) - 2, 24)
    gap = room - width_of(words)
    if shown.fraction >= 0 and bar_cells >= 8:
        row += [("  ", ""), *_bar(shown.fraction, bar_cells, unicode=unicode)]
        gap -= bar_cells + 2
    seconds = duration_in_words(now - shown.activity_time) if shown.activity_time else ""
    row.append((" " * (gap + 1) + seconds.rjust(_DURATION_CELLS), "bright_black"))
    return row


def rows_of(
    shown: Checklist, *, columns: int, lines: int, unicode: bool, now: float, frame: int
) -> list[Row]:
    """The checklist in at most `lines` rows. If not all steps fit, the running ones stay visible."""
    tail = (
        [activity_row(shown, columns=columns, unicode=unicode, now=now, frame=frame)]
        if shown.activity
        else []
    )
    first, last = _window(shown, max(lines - len(tail) - 2, 1))
    rows = [
        step_row(line, columns=columns, unicode=unicode, now=now, frame=frame)
        for line in shown.lines[first:last]
    ]
    if first:
        rows.insert(0, [(f"  {counted(first, 'step')} above", "bright_black")])
    if last < len(shown.lines):
        rows.append([(f"  {counted(len(shown.lines) - last, 'step')} below", "bright_black")])
    return rows + tail


def _window(shown: Checklist, room: int) -> tuple[int, int]:
    """The visible steps: all, or those around the first unfinished one."""
    count = len(shown.lines)
    if count <= room:
        return 0, count
    open_states = {StepState.PENDING, StepState.READY, StepState.RUNNING, StepState.UNKNOWN}
    current = next((i for i, line in enumerate(shown.lines) if line.state in open_states), count - 1)
    first = min(max(current - 1, 0), count - room)
    return first, first + room


def _detail(line: Line) -> str:
    if line.state is not StepState.RUNNING:
        return line.detail
    return one_line(line.text[-_TEXT_CHARACTERS:]) or line.activity


def _share(line: Line, room: int, *, unicode: bool) -> tuple[str, str]:
    """Truncates title and detail so that both fit. For a failure the detail matters more than the title; of
    partial text the end is kept.
    """
    ellipsis = _ellipsis(unicode=unicode)
    between = width_of(arrow(unicode=unicode))
    title, detail = line.title, _detail(line)
    if not detail or room < 24:
        return fit(title, room, ellipsis=ellipsis), ""
    if width_of(title) + between + width_of(detail) > room:
        least = room * 2 // 5 if line.state is StepState.FAILED else room * 3 // 5
        title = fit(title, max(least, room - between - width_of(detail)), ellipsis=ellipsis)
    left = room - width_of(title) - between
    if left < 3:
        return title, ""
    cut = fit_end if line.state is StepState.RUNNING and line.text else fit
    return title, cut(detail, left, ellipsis=ellipsis)


def _title_style(line: Line) -> str:
    return "bright_black" if line.state in {StepState.PENDING, StepState.READY, StepState.SKIPPED} else ""


def _bar(fraction: float, cells: int, *, unicode: bool) -> Row:
    full = round(max(0.0, min(fraction, 1.0)) * cells)
    done, left = ("━", "─") if unicode else ("#", ".")
    return [(done * full, "cyan"), (left * (cells - full), "bright_black")]


def _turning(frame: int, *, unicode: bool) -> str:
    frames = _SPINNER if unicode else _ASCII_SPINNER
    return frames[frame % len(frames)]


def arrow(*, unicode: bool) -> str:
    return " → " if unicode else " -> "


def _ellipsis(*, unicode: bool) -> str:
    return "…" if unicode else "..."
