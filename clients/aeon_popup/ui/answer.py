"""The answer as formatted text, and the list of what the run changed."""

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QLabel, QTextBrowser, QVBoxLayout, QWidget

from aeon_cli.text.printable import one_line, printable
from aeon_cli.text.titles import effect_in_words
from aeon_popup.state.run_view import RunView
from aeon_popup.ui.theme import MONO_FAMILIES, Palette, breakable, document_style, named
from aeond_client.records.runs import UndoReport

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
# As many as an answer lists.
_MOST_CHANGES = 256
_SAFE_SCHEMES = {"http", "https", "mailto"}


class AnswerText(QTextBrowser):
    """Markdown without HTML. It loads nothing: images and links of the text are never fetched. A click on a web or mail link
    emits `followed` with its address; other schemes could start programs.
    """

    followed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("answer")
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Answer")
        self.document().setDocumentMargin(0)
        self.anchorClicked.connect(self._follow)
        self._drawn: tuple[str, str] = ("", "")

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Nothing: a model's text must not make the window read files or contact servers."""
        return None

    def show_text(self, text: str, palette: Palette, width: int) -> None:
        """Renders the text if it changed, and takes the height that it needs."""
        if self._drawn != (text, palette.name):
            self._drawn = (text, palette.name)
            document = self.document()
            document.setDefaultStyleSheet(document_style(palette))
            document.setLayoutEnabled(False)  # once for all changes, instead of after each
            document.setMarkdown(printable(text), _FEATURES)
            self._polish(palette)
            document.setLayoutEnabled(True)
        self.document().setTextWidth(width)
        self.setFixedHeight(max(int(self.document().size().height()) + 2, 20))

    def _follow(self, link: QUrl) -> None:
        if link.scheme() in _SAFE_SCHEMES:
            self.followed.emit(link.toString(QUrl.ComponentFormattingOption.FullyEncoded))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def _polish(self, palette: Palette) -> None:
        """Fonts, colours and tables that a style sheet of rich text cannot express."""
        document = self.document()
        edit = QTextCursor(document)
        forms: dict[int, QTextCharFormat | None] = {}  # a text has thousands of fragments, but few formats
        block = document.begin()
        while block.isValid():
            _space(block, palette)
            pieces = block.begin()
            while not pieces.atEnd():
                fragment = pieces.fragment()
                index = fragment.charFormatIndex()
                if index not in forms:
                    forms[index] = _polished(fragment.charFormat(), palette)
                if (form := forms[index]) is not None:
                    start = fragment.position()
                    edit.setPosition(start)
                    edit.setPosition(start + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
                    edit.setCharFormat(form)
                pieces += 1
            block = block.next()
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                table_form = frame.format()
                table_form.setBorder(1)
                table_form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                table_form.setBorderBrush(QBrush(QColor(palette.line)))
                table_form.setBorderCollapse(True)
                table_form.setCellPadding(7)
                table_form.setCellSpacing(0)
                table_form.setTopMargin(8)
                table_form.setBottomMargin(8)
                table_form.setWidth(QTextLength())
                frame.setFormat(table_form)


def _polished(form: QTextCharFormat, palette: Palette) -> QTextCharFormat | None:
    """The format of a link or of code as the theme has it; None for other text."""
    if form.isAnchor():
        form.setForeground(QBrush(QColor(palette.accent)))
        form.setFontUnderline(False)
    elif form.fontFixedPitch():
        form.setFontFamilies(list(MONO_FAMILIES))
        form.setFontStyleHint(QFont.StyleHint.Monospace)
    else:
        return None
    return form


def _space(block: QTextBlock, palette: Palette) -> None:
    """Sets headings and code apart from what is above them."""
    form = block.blockFormat()
    if form.headingLevel():
        form.setTopMargin(12)
        form.setBottomMargin(4)
    elif _is_code(block):
        form.setBackground(QBrush(QColor(palette.panel)))
        form.setNonBreakableLines(False)  # a line that is too long goes on below, instead of beyond the edge
        form.setTopMargin(0 if _is_code(block.previous()) else 8)
        form.setBottomMargin(0 if _is_code(block.next()) else 8)
    else:
        return
    QTextCursor(block).setBlockFormat(form)


def _is_code(block: QTextBlock) -> bool:
    return block.isValid() and block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


class Changes(QWidget):
    """What the run changed, from its record, or what became of an undo."""

    def __init__(self) -> None:
        super().__init__()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        self._heading = named(QLabel(), "heading")
        self._lines = named(QLabel(), "changes")
        for label in (self._heading, self._lines):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            box.addWidget(label)

    def show_run(self, run: RunView) -> None:
        heading, lines = _undone(run.undo) if run.undo is not None else _changed(run)
        self._heading.setText(heading)
        self._lines.setText(breakable("\n".join(lines)))
        self._lines.setVisible(bool(lines))
        self.setAccessibleName(f"{heading}: {', '.join(lines)}")
        self.setVisible(bool(heading))


def _changed(run: RunView) -> tuple[str, list[str]]:
    lines = [f"·  {effect_in_words(effect)}" for effect in run.changes[:_MOST_CHANGES]]
    if (more := len(run.changes) - len(lines)) > 0:
        lines.append(f"·  and {more} more")
    notes = [f"·  {one_line(note)}" for note in run.steps.answer.notes] if run.steps.answer else []
    if lines:
        return "CHANGED", lines + notes
    return ("NOTES", notes) if notes else ("", [])


def _undone(report: UndoReport) -> tuple[str, list[str]]:
    lines = [f"·  {one_line(change.outcome)}: {one_line(change.target)}" for change in report.undone]
    lines += [f"·  not undone: {one_line(one.target)} ({one_line(one.message)})" for one in report.refused]
    return "UNDONE" if report.undone else "NOTHING WAS UNDONE", lines
