"""The cards on which a run waits for a person: a question, an approval, an interrupted step."""

import json
import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QSyntaxHighlighter, QTextDocument
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QVBoxLayout

from aeon_cli.text.calls import (
    QUOTED,
    approval_heading,
    call_lines,
    effect_sentences,
    previewed,
    untrusted_sentence,
)
from aeon_cli.text.printable import one_line, printable, shown_value
from aeon_cli.text.titles import duration_in_words
from aeon_popup.actions import Actions
from aeon_popup.state.happenings import Approval
from aeon_popup.state.run_view import Asked, RunView
from aeon_popup.ui.theme import WIDTH, Palette, breakable, font_of, named, tooltip, wrapped
from aeond_client.records.judgements import ApprovalRequest, Question
from aeond_client.records.runs import Resolution

# After a card appears, nothing is answered or decided for so long: it was meant for something else.
GUARD_SECONDS = 0.5
_OPTIONS = 9
_CALL_LINES, _CALL_PADDING = 14, 16
# The width of a card's content beside the scroll bar, the space around a button's text, and that between two buttons.
_INSIDE, _BUTTON_EDGE, _GAP = WIDTH - 90, 17, 8
_OPTION_LINES = 3
_SCOPES = {"run": "For this run", "folder": "For this folder", "host": "For this host"}


class Card(QFrame):
    """A frame with a heading and a row of buttons, which do nothing at first."""

    def __init__(self, *, urgent: bool = False) -> None:
        super().__init__()
        self._shown = time.monotonic()
        self.setObjectName("card")
        self.setProperty("urgent", urgent)
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(16, 14, 16, 14)
        self.box.setSpacing(10)
        self.heading = named(QLabel(), "question")
        self.heading.setWordWrap(True)
        self.heading.setTextFormat(Qt.TextFormat.PlainText)
        self.box.addWidget(self.heading)

    @property
    def guarded(self) -> bool:
        """Whether the card has appeared too recently for a key or a click to be meant for it."""
        return time.monotonic() - self._shown < GUARD_SECONDS

    def shown_again(self) -> None:
        """The window was shown, or the card became visible: the time of the guard starts again."""
        self._shown = time.monotonic()

    def small_print(self, words: str = "") -> QLabel:
        """A line in small letters, hidden if it has no words."""
        made = named(QLabel(breakable(words)), "detail")
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.setWordWrap(True)
        made.hide()
        self.box.addWidget(made)
        made.setVisible(bool(words))
        return made

    def buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(_GAP)
        row.addStretch()
        self.box.addLayout(row)
        return row


class EnterButton(QPushButton):
    """A button that Enter presses as Space does; a repeat of a held Enter does not."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and plain:
            if not event.isAutoRepeat():
                self.click()
        else:
            super().keyPressEvent(event)


def button(
    words: str, pressed: Callable[[], None], *, main: bool = False, by_enter: bool = True
) -> QPushButton:
    """A button; without `by_enter`, Enter does not press it."""
    made = EnterButton(words) if by_enter else QPushButton(words)
    made.setProperty("main", main)
    made.setAutoDefault(False)
    made.clicked.connect(lambda _checked=False: pressed())
    return made


class QuestionCard(Card):
    """A question with a field, or with a button for each option: Alt+1 to Alt+9 press them. `reply` is what was typed
    into the field before.
    """

    def __init__(self, asked: Asked, actions: Actions, reply: str = "") -> None:
        super().__init__()
        self.asked = asked
        self._actions = actions
        question = asked.question
        self.heading.setText(breakable(printable(question.prompt)))
        self.setAccessibleName(f"Question: {question.prompt}")
        self.entry = named(QLineEdit(reply), "entry")
        self.entry.setAccessibleName(f"Answer to: {question.prompt}")
        default = shown_value(question.default) if question.has_default else ""
        self.entry.setPlaceholderText(
            f"Type an answer…  (empty: {default})" if default else "Type an answer…"
        )
        self.entry.textEdited.connect(lambda text: actions.draft_reply(asked, text))
        self.entry.returnPressed.connect(self._enter)
        self.box.addWidget(self.entry)
        self.hint = self.small_print()
        self.options = [
            button("", lambda option=option: self._send(option))  # type: ignore[misc]
            for option in question.options[:_OPTIONS]
        ]
        row = self._place_options()
        self._main = button("Answer", self._enter, main=True)
        row.addWidget(self._main)
        if question.options and len(question.options) <= _OPTIONS:
            self.entry.hide()
            self._main.hide()
        self.show_state(sent=False, note="")

    def _place_options(self) -> QHBoxLayout:
        """Puts the options in a row, or below each other if they do not fit; the row of the last button."""
        words = [f"{at}  {one_line(text)}" for at, text in enumerate(self.asked.question.options, start=1)]
        font = font_of(14, QFont.Weight.Medium)
        widths = [QFontMetrics(font).horizontalAdvance(one) + 2 * _BUTTON_EDGE + _GAP for one in words]
        fits = sum(widths[:_OPTIONS]) - _GAP <= _INSIDE
        for made, text in zip(self.options, words, strict=False):
            shown = text if fits else wrapped(text, font, _INSIDE - 2 * _BUTTON_EDGE, _OPTION_LINES)
            made.setText(shown.replace("&", "&&"))
            made.setAccessibleName(text)
            made.setToolTip(tooltip(text) if "…" in shown else "")
            made.setProperty("wide", not fits)
            if not fits:
                self.box.addWidget(made)
        row = self.buttons()
        for made in self.options if fits else ():
            row.addWidget(made)
        return row

    def show_state(self, *, sent: bool, note: str) -> None:
        """Disables the card while the answer is on its way; `note` is the reason of a rejection."""
        for widget in (self.entry, self._main, *self.options):
            widget.setEnabled(not sent)
        deadline = self.asked.question.deadline_time
        left = max(deadline - time.time(), 0.0) if deadline else 0.0
        words = note or (f"{duration_in_words(left)} left" if deadline else "")
        self.hint.setText(breakable(words))
        self.hint.setVisible(bool(words))

    def focus(self) -> None:
        (self.options[0] if self.entry.isHidden() and self.options else self.entry).setFocus()

    def choose(self, number: int) -> None:
        """Answers with an option, counted from 1."""
        if 1 <= number <= len(self.options) and self.options[number - 1].isEnabled():
            self._send(self.asked.question.options[number - 1])

    def _enter(self) -> None:
        text = self.entry.text().strip()
        if (text or self.asked.question.has_default) and not self.guarded:
            self._actions.answer(self.asked, value_of(self.asked.question, text))

    def _send(self, option: str) -> None:
        if not self.guarded:
            self._actions.answer(self.asked, option)


class ApprovalCard(Card):
    """What calls would do, why that is asked, the untrusted sources that the run has read (`taint`), and the exact arguments. Deny has the focus, plain Enter never allows, and
    keys are ignored at first.
    """

    def __init__(self, approval: Approval, taint: Sequence[str], actions: Actions, palette: Palette) -> None:
        super().__init__(urgent=True)
        self.approval = approval
        self._actions = actions
        asked = approval.request
        words = approval_heading(asked)
        self.heading.setText(breakable(words))
        self.setAccessibleName(f"Approval: {words}")
        why = f"Why this is asked: {printable(asked.message)}" if asked.message else ""
        read = untrusted_sentence(taint)
        self.reason, self.untrusted = self.small_print(why), self.small_print(read)
        self.setAccessibleDescription("\n".join(filter(None, (why, read))))
        shown = scrolled(text_of(asked), "The calls, and what they would do")
        self.differences = Differences(shown.document(), palette)
        self.box.addWidget(shown)
        self.note = self.small_print()
        row = self.buttons()
        self.deny_button = button("Deny", self.deny, by_enter=False)
        self.scope_buttons = [
            button(_SCOPES[scope], lambda scope=scope: self.allow(scope), by_enter=False)  # type: ignore[misc]
            for scope in asked.scopes
            if scope in _SCOPES
        ]
        self.allow_button = button("Allow once", self.allow, main=True, by_enter=False)
        for made in (*self.scope_buttons, self.allow_button):
            made.installEventFilter(self)
        for made in (self.deny_button, *self.scope_buttons, self.allow_button):
            row.addWidget(made)
        self.show_state(sent=False, note="")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter and Space on a button that allows do nothing: only Ctrl+Enter, which allows once, and a click allow."""
        if isinstance(event, QKeyEvent) and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}
        return super().eventFilter(watched, event)

    def show_state(self, *, sent: bool, note: str) -> None:
        for widget in (self.deny_button, *self.scope_buttons, self.allow_button):
            widget.setEnabled(not sent)
        expires = self.approval.request.expire_time
        left = duration_in_words(max(expires - time.time(), 0.0)) if expires else ""
        words = note or (f"Denied if not allowed within {left}" if left else "")
        self.note.setText(breakable(words))
        self.note.setVisible(bool(words))

    def focus(self) -> None:
        self.deny_button.setFocus()

    def allow(self, scope: str = "once") -> None:
        """Allows in a scope that the approval offers."""
        offered = scope == "once" or scope in self.approval.request.scopes
        if offered and not self.guarded and self.allow_button.isEnabled():
            self._actions.decide(self.approval, approved=True, scope=scope)

    def deny(self) -> None:
        if not self.guarded and self.deny_button.isEnabled():
            self._actions.decide(self.approval, approved=False)


class Differences(QSyntaxHighlighter):
    """Colours the lines that a change of a file adds and removes; their signs say the same."""

    def __init__(self, document: QTextDocument, palette: Palette) -> None:
        super().__init__(document)
        self._colours = {"+": QColor(palette.ok), "-": QColor(palette.err), "@": QColor(palette.dim)}

    def highlightBlock(self, text: str) -> None:
        line = text.removeprefix(QUOTED) if text.startswith(QUOTED) else ""
        is_difference = bool(line) and (self.previousBlockState() == 1 or line.startswith("@@ "))
        self.setCurrentBlockState(int(is_difference))
        if is_difference and line[0] in self._colours:
            self.setFormat(len(QUOTED), len(line), self._colours[line[0]])


class DecisionCard(Card):
    """An interrupted step that may have taken effect, or a run that the daemon suspended. None of its buttons is harmless,
    so that the card itself takes the focus; keys are ignored at first.
    """

    def __init__(self, run: RunView, actions: Actions) -> None:
        super().__init__(urgent=True)
        self._actions = actions
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        step = run.unknown_step
        words = (
            f"“{run.title_of(step)}” was interrupted and may have taken effect."
            if step
            else f"The run was suspended: {run.steps.suspended}."
        )
        self.heading.setText(breakable(words))
        self.setAccessibleName(words)
        self.note = self.small_print()
        row = self.buttons()
        self._abort = button("Stop here", lambda: self._resolve(Resolution.ABORT))
        self._done = button("It is done", lambda: self._resolve(Resolution.DONE))
        self._retry = button("Run it again", lambda: self._resolve(Resolution.RETRY))
        for made in (self._abort, self._done, self._retry):
            row.addWidget(made)
        self._done.setVisible(step is not None)  # after it has a parent: without one it would be a window

    def show_state(self, *, sent: bool, note: str) -> None:
        for widget in (self._abort, self._done, self._retry):
            widget.setEnabled(not sent)
        self.note.setText(breakable(note))
        self.note.setVisible(bool(note))

    def focus(self) -> None:
        self.setFocus()

    def _resolve(self, how: Resolution) -> None:
        if not self.guarded:
            self._actions.resolve(how)


def text_of(approval: ApprovalRequest) -> str:
    """The calls with their arguments and what they would do: files with their differences, commands, hosts."""
    lines: list[str] = []
    several = len(approval.calls) > 1
    for sentence, (call, preview) in zip(effect_sentences(approval), previewed(approval), strict=True):
        lines += [*([sentence] if several else []), one_line(call.tool), *call_lines(call, preview)]
    lines += [f"for this folder: {one_line(folder)}" for folder in approval.folders]
    lines += [f"for this host: {one_line(host)}" for host in approval.hosts]
    return "\n".join(lines)


def scrolled(text: str, name: str) -> QPlainTextEdit:
    """A text that cannot be changed, shown whole: it scrolls where it has many lines."""
    shown = QPlainTextEdit(text)
    shown.setObjectName("arguments")
    shown.setReadOnly(True)
    shown.setTabChangesFocus(True)
    shown.setAccessibleName(name)
    lines = min(shown.blockCount(), _CALL_LINES)
    shown.setFixedHeight(lines * shown.fontMetrics().lineSpacing() + 2 * _CALL_PADDING)
    return shown


AnyCard = QuestionCard | ApprovalCard | DecisionCard


def card_of(run: RunView, actions: Actions, palette: Palette) -> AnyCard | None:
    """The card for what the run waits for; None if it waits for nothing."""
    if run.ended:
        return None
    if run.approvals:
        return ApprovalCard(run.approvals[0], run.taint, actions, palette)
    if run.questions:
        return QuestionCard(run.questions[0], actions, run.reply_to(run.questions[0]))
    return DecisionCard(run, actions) if run.needs_person else None


def identity_of(run: RunView) -> str:
    """Identifies the card that a run needs, with everything that the user decides about; "" if it needs none."""
    return "/".join((run.stage, run.subject, *run.taint)) if run.needs_person else ""


def value_of(question: Question, text: str) -> object:
    """Converts a typed answer: empty text for the default, text where the question allows text, otherwise JSON.
    The daemon validates the result.
    """
    if not text and question.has_default:
        return question.default
    if question.schema.get("type", "string") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
