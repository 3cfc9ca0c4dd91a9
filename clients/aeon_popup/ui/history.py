"""The list of recent runs, filtered by what the user types."""

from collections.abc import Callable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate
from PySide6.QtWidgets import QStyleOptionViewItem as Option

from aeon_cli.text.printable import one_line
from aeon_popup.state.wording import ago
from aeon_popup.ui.marks import SIZE, Shape, draw
from aeon_popup.ui.theme import DARK, Palette, font_of
from aeond_client.records.runs import RunState, RunSummary

_ROW = 36
_MOST_ROWS = 8
_RUN = Qt.ItemDataRole.UserRole
_SHAPES = {
    RunState.SUCCEEDED: Shape.TICK,
    RunState.EXPIRED: Shape.TICK,
    RunState.FAILED: Shape.CROSS,
    RunState.CANCELLED: Shape.DASH,
    RunState.AWAITING_INPUT: Shape.DOT,
    RunState.SUSPENDED: Shape.QUERY,
}


class HistoryList(QListWidget):
    """Runs, newest first; those that need a person or are running come before the others."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.setObjectName("history")
        self.setAccessibleName("Recent runs")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._runs: tuple[RunSummary, ...] = ()
        self._wanted: str | None = None
        self._row = _Row(self, now)
        self.setItemDelegate(self._row)

    def show_runs(self, runs: tuple[RunSummary, ...], wanted: str, palette: Palette) -> None:
        """Fills the list with the runs whose text contains `wanted`, and selects the first."""
        if (runs, wanted) != (self._runs, self._wanted):
            self._runs, self._wanted = runs, wanted
            self.clear()
            found = [run for run in runs if wanted.casefold() in run.text.casefold()]
            for run in sorted(found, key=lambda run: run.state.ended):
                item = QListWidgetItem(f"{one_line(run.text)}, {run.state.value.replace('_', ' ')}")
                item.setData(_RUN, run)
                item.setSizeHint(QSize(0, _ROW))
                self.addItem(item)
            self.setCurrentRow(0)
        self._row.palette = palette
        self.viewport().update()
        self.setFixedHeight(_ROW * min(max(self.count(), 1), _MOST_ROWS) + 4)

    @property
    def chosen(self) -> RunSummary | None:
        found = self.currentIndex().data(_RUN)
        return found if isinstance(found, RunSummary) else None

    @property
    def spoken(self) -> str:
        """The text and the state of the chosen run."""
        return str(self.currentIndex().data() or "")

    def move(self, by: int) -> None:  # type: ignore[override]
        """Moves the selection by so many rows."""
        if self.count():
            self.setCurrentRow(min(max(self.currentRow() + by, 0), self.count() - 1))


class _Row(QStyledItemDelegate):
    """Draws a run: mark, text, and how long ago it was created."""

    def __init__(self, parent: HistoryList, now: Callable[[], float]) -> None:
        super().__init__(parent)
        self.palette = DARK
        self._now = now

    def paint(self, painter: QPainter, option: Option, index: object) -> None:
        run = index.data(_RUN)  # type: ignore[attr-defined]
        p, place = self.palette, option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.panel))
            painter.drawRoundedRect(place, 8, 8)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(place.left() + 10, place.center().y() - SIZE // 2 + 1)
        draw(painter, _SHAPES.get(run.state, Shape.SPINNER), p)
        painter.restore()
        when = ago(self._now() - run.created_time)
        small = font_of(12)
        painter.setFont(small)
        painter.setPen(QColor(p.dim))
        right = QRect(place.right() - 110, place.top(), 98, place.height())
        painter.drawText(right, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, when)
        painter.setFont(font_of(14))
        painter.setPen(QColor(p.text))
        left = QRect(place.left() + 39, place.top(), place.width() - 160, place.height())
        words = QFontMetrics(font_of(14)).elidedText(
            one_line(run.text), Qt.TextElideMode.ElideRight, left.width()
        )
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, words)
