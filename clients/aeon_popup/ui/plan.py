"""The plan as a checklist that ticks off live."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from aeon_cli.runs.checklist import Checklist, Line
from aeon_cli.text.printable import one_line
from aeon_cli.text.titles import counted
from aeon_popup.state.run_view import RunView, Stage
from aeon_popup.ui.marks import Mark, Shape
from aeon_popup.ui.theme import Palette, named
from aeond_client.records.runs import StepState

_TEXT_WIDTH = 600
# Characters of a step's partial output that are shown.
_TAIL = 200
# The mark of a step that has started, and its state in words.
_STATES = {
    StepState.RUNNING: (Shape.SPINNER, "running"),
    StepState.SUCCEEDED: (Shape.TICK, "done"),
    StepState.FAILED: (Shape.CROSS, "failed"),
    StepState.INVALID: (Shape.CROSS, "failed"),
    StepState.SKIPPED: (Shape.DASH, "skipped"),
    StepState.UNKNOWN: (Shape.QUERY, "interrupted"),
}


class Row(QWidget):
    """One step: a mark, the title, and one line of detail."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.mark = Mark(palette)
        self._title = named(QLabel(), "row")
        self._detail = named(QLabel(), "detail")
        for label in (self._title, self._detail):
            label.setTextFormat(Qt.TextFormat.PlainText)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(11)
        grid.setVerticalSpacing(1)
        grid.addWidget(self.mark, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self._title, 0, 1)
        grid.addWidget(self._detail, 1, 1)
        grid.setColumnStretch(1, 1)
        self._drawn: tuple[object, ...] = ()

    def show_line(self, title: str, detail: str, shape: Shape, spoken: str, palette: Palette) -> None:
        """Draws the line if anything changed. `spoken` is the name for screen readers."""
        drawn = (title, detail, shape, spoken, palette)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        self.mark.show_shape(shape, palette)
        _set(self._title, "active", on=shape in {Shape.SPINNER, Shape.DOT, Shape.QUERY})
        _set(self._title, "pending", on=shape in {Shape.RING, Shape.DASH})
        self._title.setText(_elided(self._title, title))
        self._detail.setText(_elided(self._detail, detail))
        self._detail.setVisible(bool(detail))
        self.setAccessibleName(spoken)


class PlanList(QWidget):
    """The steps of a run; one line instead while there are none, or when the answer is shown without details."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._rows: list[Row] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(12)
        self._palette = palette

    def show_run(self, run: RunView, palette: Palette, *, details: bool) -> None:
        lines = self._lines(run, details=details)
        while len(self._rows) > len(lines):
            row = self._rows.pop()
            self._layout.removeWidget(row)
            row.deleteLater()
        while len(self._rows) < len(lines):
            self._rows.append(row := Row(palette))
            self._layout.addWidget(row)
        for row, (title, detail, shape, spoken) in zip(self._rows, lines, strict=True):
            row.show_line(title, detail, shape, spoken, palette)
        self.setVisible(bool(lines))

    @property
    def shapes(self) -> list[str]:
        """The marks of the lines, from the first to the last."""
        return [row.mark.shape.value for row in self._rows]

    @property
    def active_row(self) -> QWidget | None:
        """The last line that is in progress."""
        return next((row for row in reversed(self._rows) if row.mark.shape is Shape.SPINNER), None)

    def turn(self, seconds: float) -> None:
        """Advances the spinners."""
        for row in self._rows:
            row.mark.turn(seconds)

    def _lines(self, run: RunView, *, details: bool) -> list[tuple[str, str, Shape, str]]:
        steps = run.steps
        if run.stage is Stage.DONE and not details:
            return _summary(run)
        lines = [
            _step(run, line, number, len(steps.lines), details=details)
            for number, line in enumerate(steps.lines, start=1)
        ]
        activity = "" if run.ended or run.needs_person else _activity(steps, running=bool(run.run_id))
        if activity:
            lines.append((activity, "", Shape.SPINNER, activity))
        return lines


def _summary(run: RunView) -> list[tuple[str, str, Shape, str]]:
    """The collapsed checklist of an answered run."""
    count = len(run.steps.lines)
    if not count:
        return []
    states = [line.state for line in run.steps.lines]
    done = states.count(StepState.SUCCEEDED)
    words = f"{counted(count, 'step')} done" if done == count else f"{done} of {counted(count, 'step')} done"
    failed = not {StepState.FAILED, StepState.INVALID}.isdisjoint(states)
    shape = Shape.QUERY if failed else Shape.TICK if done == count else Shape.DASH
    return [(words, "", shape, words)]


def _step(run: RunView, line: Line, number: int, count: int, *, details: bool) -> tuple[str, str, Shape, str]:
    title = run.title_of(line)
    shape, state = _STATES.get(line.state, (Shape.RING, "not started"))
    if run.ended and shape is Shape.SPINNER:
        shape = Shape.DASH
    elif not run.ended and line.step_id in run.waiting_steps:
        shape, state = Shape.DOT, "waits for you"
    call = line.title if line.title != title else ""
    detail = {
        Shape.DOT: "waiting for you",
        Shape.SPINNER: " · ".join(filter(None, (call, line.activity or one_line(line.text[-_TAIL:])))),
        Shape.TICK: " → ".join(filter(None, (call, line.detail))) if details else "",
        Shape.CROSS: line.detail,
        Shape.QUERY: "interrupted; it may have taken effect",
    }.get(shape, "")
    spoken = f"Step {number} of {count}: {title}, {state}"
    return title, detail, shape, f"{spoken}, {detail}" if detail else spoken


def _activity(steps: Checklist, *, running: bool) -> str:
    """The work outside the steps, for its line below them."""
    if not running:
        return "Sending…"
    if not steps.activity:
        return "" if steps.lines else "Working out a plan…"
    words = "Working out a plan" if steps.activity == "planning" else steps.activity
    share = f" {steps.fraction:.0%}" if steps.fraction >= 0 else ""
    return f"{words[:1].upper()}{words[1:]}{share}…"


def _elided(label: QLabel, text: str) -> str:
    label.ensurePolished()
    return QFontMetrics(label.font()).elidedText(text, Qt.TextElideMode.ElideRight, _TEXT_WIDTH)


def _set(label: QLabel, name: str, *, on: bool) -> None:
    """Sets a property that the style sheet selects by."""
    if label.property(name) != on:
        label.setProperty(name, on)
        label.style().unpolish(label)
        label.style().polish(label)
