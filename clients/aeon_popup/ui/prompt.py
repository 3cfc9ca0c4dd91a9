"""The text field of the header: one to six lines, read-only while it shows the request of a run."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit

_MOST_LINES = 6
_MOST_CHARACTERS = 100_000


class Prompt(QPlainTextEdit):
    """`sent` is emitted by Enter, `changed` with the text that the user edits, and `begun` with the first
    character typed while the field is read-only.
    """

    sent = Signal()
    changed = Signal(str)
    begun = Signal(str)
    grown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("prompt")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setPlaceholderText("Ask Aeon to do something…")
        self.setAccessibleName("Request")
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
            self.setCursorWidth(0 if read_only else 2)
        wanted = self._one_line(text) if read_only else text
        if self.toPlainText() != wanted:
            self.setPlainText(wanted)
            cursor = self.textCursor()
            cursor.movePosition(cursor.MoveOperation.Start if read_only else cursor.MoveOperation.End)
            self.setTextCursor(cursor)
        self._showing = False
        self.fit()

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
        elif self.isReadOnly() and event.text().isprintable() and event.text().strip():
            self.begun.emit(event.text())
        elif len(self.toPlainText()) < _MOST_CHARACTERS or not event.text().isprintable():
            super().keyPressEvent(event)

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
