"""Small marks of steps and runs: each state has a shape of its own as well as a colour."""

import math
from enum import StrEnum

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from aeon_popup.ui.theme import Palette

SIZE = 18
# One turn of the spinner in seconds.
_TURN_SECONDS = 1.1


class Shape(StrEnum):
    """The shape of a mark."""

    RING = "ring"
    SPINNER = "spinner"
    TICK = "tick"
    CROSS = "cross"
    DOT = "dot"
    DASH = "dash"
    QUERY = "query"


class Mark(QWidget):
    """One mark. `turn` advances the spinner; without it the spinner stays still."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._shape = Shape.RING
        self._angle = 0.0
        self.setFixedSize(QSize(SIZE, SIZE))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @property
    def shape(self) -> Shape:
        return self._shape

    def show_shape(self, shape: Shape, palette: Palette) -> None:
        if (shape, palette) != (self._shape, self._palette):
            self._shape, self._palette = shape, palette
            self.update()

    def turn(self, seconds: float) -> None:
        """Draws the spinner as of this time."""
        if self._shape is Shape.SPINNER:
            self._angle = seconds / _TURN_SECONDS % 1.0
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw(painter, self._shape, self._palette, self._angle)
        painter.end()


def draw(painter: QPainter, shape: Shape, p: Palette, angle: float = 0.0) -> None:
    """Draws a mark of `SIZE` pixels at the painter's origin."""
    disc = QRectF(1.5, 1.5, SIZE - 3, SIZE - 3)
    match shape:
        case Shape.RING:
            _stroke(painter, p.dim, 1.4)
            painter.drawEllipse(disc)
        case Shape.SPINNER:
            _stroke(painter, p.line, 1.8)
            painter.drawEllipse(disc)
            _stroke(painter, p.accent, 1.8)
            painter.drawArc(disc, round(-angle * 360 * 16), 100 * 16)
        case Shape.TICK:
            _fill(painter, p.ok)
            painter.drawEllipse(disc)
            _stroke(painter, p.bg, 1.9)
            painter.drawPolyline(QPolygonF([QPointF(5.6, 9.3), QPointF(8.0, 11.7), QPointF(12.5, 6.7)]))
        case Shape.CROSS:
            _fill(painter, p.err)
            painter.drawEllipse(disc)
            _stroke(painter, p.bg, 1.9)
            painter.drawLine(QPointF(6.4, 6.4), QPointF(11.6, 11.6))
            painter.drawLine(QPointF(11.6, 6.4), QPointF(6.4, 11.6))
        case Shape.DOT:
            _stroke(painter, p.warn, 1.6)
            painter.drawEllipse(disc)
            _fill(painter, p.warn)
            painter.drawEllipse(QPointF(SIZE / 2, SIZE / 2), 3.0, 3.0)
        case Shape.DASH:
            _stroke(painter, p.dim, 1.4)
            painter.drawEllipse(disc)
            painter.drawLine(QPointF(5.8, SIZE / 2), QPointF(SIZE - 5.8, SIZE / 2))
        case Shape.QUERY:
            _stroke(painter, p.warn, 1.6)
            points = [
                QPointF(SIZE / 2 + 8.2 * math.sin(a), SIZE / 2 + 0.8 - 8.2 * math.cos(a))
                for a in (0.0, math.tau / 3, 2 * math.tau / 3)
            ]
            painter.drawPolygon(QPolygonF(points))
            painter.drawLine(QPointF(SIZE / 2, 6.4), QPointF(SIZE / 2, 9.8))
            painter.drawPoint(QPointF(SIZE / 2, 12.2))


def _stroke(painter: QPainter, colour: str, width: float) -> None:
    pen = QPen(QColor(colour), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _fill(painter: QPainter, colour: str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
