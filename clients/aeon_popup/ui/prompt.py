"""The header: its text field has one to six lines and is read-only while it shows the request of a run."""

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit

from aeon_popup.state import wording
from aeon_popup.state.session import SessionView
from aeon_popup.ui.commands import COMMAND_KEYS
from aeon_popup.ui.theme import Palette, named, tooltip

_MOST_LINES = 6
_MOST_CHARACTERS = 100_000
# What the field is for: its accessible name, and its text while it is empty.
_REQUEST = ("Request", "Ask Aeon to do something…")
_FILTER = ("Filter recent runs", "Filter recent runs…")


class Prompt(QPlainTextEdit):
    """`sent` is emitted by Enter, and `changed` with the text that the user edits. While the field is read-only, `begun` is
    emitted with the first character that is typed, and with "" before a paste and before text of an input method: if that
    makes the field editable, the text is inserted.
    """

    sent = Signal()
    changed = Signal(str)
    begun = Signal(str)
    grown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("prompt")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.name(*_REQUEST)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDocumentMargin(0)
        self._showing = False
        self.textChanged.connect(self._note_change)

    def show_text(self, text: str, *, read_only: bool) -> None:
        """Shows a draft, or the request of a run on one line. The cursor stays when the text is the same."""
        self._showing = True
        if self.isReadOnly() != read_only:
            self.setReadOnly(read_only)
            self.setAttribute(
                Qt.WidgetAttribute.WA_InputMethodEnabled
            )  # Qt gives read-only fields no input method
            self.setCursorWidth(0 if read_only else 2)
        wanted = self._one_line(text) if read_only else text
        if self.toPlainText() != wanted:
            self.setPlainText(wanted)
            cursor = self.textCursor()
            cursor.movePosition(cursor.MoveOperation.Start if read_only else cursor.MoveOperation.End)
            self.setTextCursor(cursor)
        self.setToolTip(tooltip(text) if wanted != text else "")
        self._showing = False
        self.fit()

    def name(self, name: str, while_empty: str) -> None:
        """Says what the field is for."""
        if name != self.accessibleName():
            self.setAccessibleName(name)
            self.setPlaceholderText(while_empty)

    def describe(self, text: str) -> None:
        """The chosen row of the list below the field, which a screen reader says while the field has the focus."""
        if text != self.accessibleDescription():  # each change is said
            self.setAccessibleDescription(text)

    def fit(self) -> None:
        """Takes the height of the text, at most six lines."""
        self.ensurePolished()
        line = QFontMetrics(self.font()).lineSpacing()
        lines = min(max(int(self.document().size().height()), 1), _MOST_LINES)
        height = line * lines + 2
        if self.height() != height or self.maximumHeight() != height:
            self.setFixedHeight(height)
            self.grown.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and plain:
            self.sent.emit()
        elif self.isReadOnly() and event.matches(QKeySequence.StandardKey.Paste):
            if QGuiApplication.clipboard().text():
                self.begun.emit("")
                super().keyPressEvent(event)
        elif self.isReadOnly() and event.text().isprintable() and event.text().strip():
            if not event.modifiers() & COMMAND_KEYS:
                self.begun.emit(event.text())
        elif len(self.toPlainText()) < _MOST_CHARACTERS or not event.text().isprintable():
            super().keyPressEvent(event)

    def inputMethodQuery(self, query: Qt.InputMethodQuery, *argument: Any) -> Any:
        """Input methods are enabled also while the field is read-only."""
        if query == Qt.InputMethodQuery.ImEnabled:
            return self.isEnabled()
        return super().inputMethodQuery(query, *argument)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Takes composed text, such as that of a dead key or of an editor for Chinese."""
        if self.isReadOnly() and (event.commitString() or event.preeditString()):
            self.begun.emit("")
        if self.isReadOnly():
            event.ignore()
        else:
            super().inputMethodEvent(event)

    def _note_change(self) -> None:
        if not self._showing:
            self.fit()
            self.changed.emit(self.toPlainText())

    def _one_line(self, text: str) -> str:
        self.ensurePolished()
        words = " ".join(text.split())
        return QFontMetrics(self.font()).elidedText(
            words, Qt.TextElideMode.ElideRight, max(self.viewport().width() - 4, 100)
        )


class Header(QHBoxLayout):
    """The text field, and the stage of the run beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = Prompt()
        self.badge = named(QLabel(), "badge")
        self.setContentsMargins(22, 15, 16, 15)
        self.setSpacing(14)
        self.addWidget(named(QLabel("✦"), "spark"), 0, Qt.AlignmentFlag.AlignTop)
        self.addWidget(self.prompt, 1, Qt.AlignmentFlag.AlignVCenter)
        self.addWidget(self.badge, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_view(self, view: SessionView, palette: Palette, *, history: bool) -> None:
        """Shows the draft or the request, and the stage; while the history is shown the field has its filter."""
        run = view.shown
        self.prompt.name(*(_FILTER if history else _REQUEST))
        if not history:
            text = view.draft if view.writing or run is None else run.text
            self.prompt.show_text(text, read_only=not view.writing and run is not None)
        words, tone = wording.badge(view)
        self.badge.setText(words)
        self.badge.setStyleSheet(f"color: {getattr(palette, tone)};")
        self.badge.setVisible(bool(words) and not history)
