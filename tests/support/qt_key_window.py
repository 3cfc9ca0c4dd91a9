"""A program with one window that says `focused` when it gets the focus, and then prints the text of each key."""

import sys

from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override


class KeyWindow(QWidget):
    """A window that prints what it gets."""

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        _say("focused")

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        _say(event.text().encode("unicode_escape").decode())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    app = QApplication(sys.argv)
    window = KeyWindow()
    window.setFocus()
    window.show()
    sys.exit(app.exec())
