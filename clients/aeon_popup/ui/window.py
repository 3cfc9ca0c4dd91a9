"""The window without content: shape, shadow, place on the screen, and focus."""

import warnings
from typing import Protocol

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QCursor,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QRegion,
)
from PySide6.QtWidgets import QApplication, QWidget

from aeon_popup.trace import Trace
from aeon_popup.ui.theme import RADIUS, SHADOW, TOP, WIDTH, Palette

_FOCUS_ATTEMPTS = 40
_FOCUS_MS = 50


class Seat(Protocol):
    """Focus and keys of the display, and what the user sees; `hotkey.seat.Seat` implements it."""

    def activate(self, window: int) -> None: ...
    def shows(self, window: int) -> bool | None: ...
    def escape_is_held(self) -> bool: ...


class NoSeat:
    """A display whose focus and keys are Qt's business alone."""

    def activate(self, window: int) -> None:
        """Does nothing."""

    def shows(self, window: int) -> bool | None:
        """None: a program cannot know where its window is, or what covers it."""

    def escape_is_held(self) -> bool:
        return False


class Window(QWidget):
    """A frameless panel with round corners. With `composited` it has a shadow around it, otherwise the corners
    are cut from the window itself. `seat` gives the window the focus where Qt alone cannot.

    With `centred` the desktop puts the window in the middle of a screen and the window cannot move, as on Wayland. It
    then keeps one height, of which the panel takes the upper part: the panel has its place, and grows downwards. Below
    the panel the window is transparent and lets the pointer through. A window of one size is also one that tiling
    desktops do not tile.
    """

    def __init__(
        self, palette: Palette, trace: Trace, *, composited: bool, seat: Seat, centred: bool = False
    ) -> None:
        super().__init__()
        flags = Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint | Qt.WindowType.Tool
        self.setWindowFlags(flags)
        self.setWindowTitle("aeon")
        self.setObjectName("popup")
        self.palette_of_theme = palette
        self._trace = trace
        self._seat = seat
        self._composited = composited
        self._centred = centred
        self._panel_height = 0
        self._shadow: QPixmap | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground, on=composited)
        self.setFixedWidth(WIDTH + 2 * self.margin)

    @property
    def margin(self) -> int:
        """The space around the panel in pixels."""
        return SHADOW if self._composited else 0

    @property
    def highest(self) -> int:
        """The greatest height of the panel: from its top edge to a tenth above the lower edge of the screen, or, if it
        is centred, to as much as there is above it.
        """
        return int(self._area().height() * (1 - 2 * TOP if self._centred else 0.9 - TOP))

    def show_theme(self, palette: Palette) -> None:
        self.palette_of_theme = palette
        self._shadow = None
        self.update()

    def place(self, height: int) -> None:
        """Gives the panel this height, at the middle of the screen that has the pointer."""
        self._panel_height = height
        if self._centred:
            self._take_the_upper_part()
            return
        area = self._area()
        left = area.left() + (area.width() - WIDTH) // 2 - self.margin
        top = area.top() + int(area.height() * TOP) - self.margin
        wanted = QRect(left, top, WIDTH + 2 * self.margin, height + 2 * self.margin)
        if self.geometry() != wanted:
            self.setGeometry(wanted)
        if not self._composited:
            self.setMask(_rounded(self.width(), self.height()))

    def _take_the_upper_part(self) -> None:
        highest = max(self.highest, self._panel_height)
        self.setFixedHeight(highest + 2 * self.margin)
        layout = self.layout()
        if layout is not None:
            below = self.margin + highest - self._panel_height
            layout.setContentsMargins(self.margin, self.margin, self.margin, below)
        if self.windowHandle() is not None:  # the mask of the widget would also keep it from being redrawn
            self.windowHandle().setMask(QRegion(self._panel()))
        self.update()

    def _panel(self) -> QRect:
        """The panel in the window."""
        whole = self.rect().adjusted(self.margin, self.margin, -self.margin, -self.margin)
        return QRect(whole.topLeft(), QSize(whole.width(), self._panel_height)) if self._centred else whole

    @property
    def is_seen(self) -> bool:
        """Whether the window is visible to the user, not only to the display; where the display does not tell, whether it has the
        focus."""
        if not self.isVisible():
            return False
        seen = self._seat.shows(int(self.winId()))
        focused = QGuiApplication.focusWindow() is self.windowHandle() or self.isActiveWindow()
        return focused if seen is None else seen

    def take_focus(self, attempts: int = _FOCUS_ATTEMPTS) -> None:
        """Raises the window and asks for the focus. A window manager that is still busy with the last time the
        window was hidden ignores the request, so it is repeated until the window has been active once.
        """
        if not self.isVisible():
            return
        if self.isActiveWindow() and attempts < _FOCUS_ATTEMPTS:
            self._trace("focused")
            return
        if QGuiApplication.focusWindow() is self.windowHandle() and attempts < _FOCUS_ATTEMPTS:
            # If the window is shown again before the display has reported the loss of focus, Qt keeps the focus but does
            # not report the window as active. Only this deprecated method corrects that.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                QApplication.setActiveWindow(self)
        self.raise_()
        self.activateWindow()
        if attempts < _FOCUS_ATTEMPTS:
            self._seat.activate(int(self.winId()))
        if attempts > 1:
            QTimer.singleShot(_FOCUS_MS, self, lambda: self.take_focus(attempts - 1))

    def paintEvent(self, event: QPaintEvent) -> None:
        p = self.palette_of_theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        panel = QRectF(self._panel())
        if self._composited:
            size = self._panel().adjusted(-self.margin, -self.margin, self.margin, self.margin).size()
            if self._shadow is None or self._shadow.deviceIndependentSize().toSize() != size:
                self._shadow = _shadow_of(size.width(), size.height(), self.devicePixelRatio(), p)
            painter.drawPixmap(0, 0, self._shadow)
        else:
            painter.fillRect(self.rect(), QColor(p.bg))
        painter.setPen(QPen(QColor(p.line), 1))
        painter.setBrush(QColor(p.bg))
        painter.drawRoundedRect(panel.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        painter.end()
        if self._trace.active:
            # After this event, in which the widgets inside are painted and the frame is given to the screen.
            QTimer.singleShot(0, lambda: self._trace("painted"))

    def _area(self) -> QRect:
        """The screen that has the pointer; if the desktop chooses the screen, the lowest one."""
        if self._centred:
            screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
            return min(screens, key=QRect.height)
        screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
        return screen.availableGeometry()


def _rounded(width: int, height: int) -> QRegion:
    path = QPainterPath()
    path.addRoundedRect(QRectF(0, 0, width, height), RADIUS, RADIUS)
    return QRegion(path.toFillPolygon().toPolygon())


def _shadow_of(width: int, height: int, ratio: float, p: Palette) -> QPixmap:
    """A soft shadow: round rectangles on top of each other, each larger and fainter than the one above it."""
    pixmap = QPixmap(int(width * ratio), int(height * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    steps = SHADOW - 4
    for step in range(steps, 0, -1):
        share = 1 - step / steps
        painter.setBrush(QColor(0, 0, 0, max(int(p.shadow * share * share / 6), 1)))
        around = SHADOW - step
        box = QRectF(around, around + 4, width - 2 * around, height - 2 * around)
        painter.drawRoundedRect(box, RADIUS + step, RADIUS + step)
    painter.end()
    return pixmap
