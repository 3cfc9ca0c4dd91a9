"""The window's content: it draws the state and turns keys into the user's choices."""

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QVBoxLayout, QWidget

from aeon_popup.actions import Actions
from aeon_popup.state import wording
from aeon_popup.state.run_view import Stage
from aeon_popup.state.session import SessionView
from aeon_popup.trace import Trace
from aeon_popup.ui.body import Body, Footer
from aeon_popup.ui.cards import AnyCard, ApprovalCard, QuestionCard
from aeon_popup.ui.commands import DECIDES, Command, ReleasedKey, command_of, enters_text, option_of, presses
from aeon_popup.ui.prompt import Header
from aeon_popup.ui.theme import Palette, named, style_sheet
from aeon_popup.ui.window import NoSeat, Seat, Window

_FRAME_MS = 33
_STILL_MS = 500
_NO_SEAT = NoSeat()


class Popup(Window):
    """The popup. `show_view` is called after each change of the state; it draws nothing while hidden."""

    hid = Signal()

    def __init__(
        self,
        actions: Actions,
        palette: Palette,
        trace: Trace,
        *,
        composited: bool = False,
        centred: bool = False,
        motion: bool = True,
        seat: Seat = _NO_SEAT,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(palette, trace, composited=composited, seat=seat, centred=centred)
        self._actions = actions
        self._trace = trace
        self._motion = motion
        self._view = SessionView()
        self._details = self._keys_shown = self._history_shown = self._withdrawn = False
        self._escape_key = ReleasedKey(seat.escape_is_held, trace)
        self._stage: tuple[str, Stage] | None = None
        self._rows: list[str] = []
        self._build(now)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self.show_theme(palette)

    # ------------------------------------------------------------ construction

    def _build(self, now: Callable[[], float]) -> None:
        self._header = Header()
        self.prompt, self.badge = self._header.prompt, self._header.badge
        self.body = Body(self._actions, self.palette_of_theme, self._card_changed, now)
        self.footer = Footer(self.perform, now)
        self.rules = (named(QFrame(), "rule"), named(QFrame(), "rule"))
        for rule in self.rules:
            rule.setFixedHeight(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(self.margin, self.margin, self.margin, self.margin)
        whole.setSpacing(0)
        whole.addLayout(self._header)
        whole.addWidget(self.rules[0])
        whole.addWidget(self.body)
        whole.addWidget(self.rules[1])
        whole.addLayout(self.footer)
        self.prompt.sent.connect(self._send)
        self.prompt.changed.connect(self._edited)
        self.prompt.begun.connect(self._actions.follow_up)
        self.prompt.grown.connect(self._fit)
        self.body.history.currentTextChanged.connect(self.prompt.describe)
        for widget in (self.prompt, self.body.answer):
            widget.installEventFilter(self)

    def show_theme(self, palette: Palette) -> None:
        super().show_theme(palette)
        self.setStyleSheet(style_sheet(palette))
        if self.isVisible():
            self._draw()

    def show_motion(self, *, wanted: bool) -> None:
        """Whether things move: without motion the marks of running steps stand still."""
        self._motion = wanted
        self._pace()

    # ------------------------------------------------------------ drawing

    def show_view(self, view: SessionView) -> None:
        """Draws the state, if the window is visible."""
        self._view = view
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        view, run, p = self._view, self._view.shown, self.palette_of_theme
        stage = (view.shown_key, view.stage)
        if stage != self._stage:
            if view.writing or self._stage is None or stage[0] != self._stage[0]:
                self._history_shown = self._keys_shown = False
            self._stage = stage
            self._trace("stage", stage=view.stage.value, run=run.run_id if run else "")
        self._header.show_view(view, p, history=self._history_shown)
        if self._history_shown:
            self.body.show_history(view, self.prompt.toPlainText(), p)
        else:
            self.body.show_run(view, p, details=self._details, keys=self._keys_shown)
        self.footer.show_view(view, self.body.history.count() if self._history_shown else None)
        self.prompt.describe(self.body.history.spoken if self._history_shown else "")
        self.setAccessibleName(wording.spoken(view))
        self._fit()
        QTimer.singleShot(0, self, self._fit_finally)  # only then do layouts count what was added to them
        self._pace()
        rows = self.body.plan.shapes
        if rows != self._rows:
            self._rows = rows
            self._trace("rows", rows=rows)

    def _card_changed(self, card: AnyCard | None) -> None:
        if card is not None:
            for one in (card, *card.findChildren(QWidget)):
                one.installEventFilter(self)
        self._focus()

    def _fit(self) -> None:
        """Takes the height of the content; the body scrolls when the screen is too low."""
        shown = self.body.occupied
        self.body.setVisible(shown)
        self.rules[0].setVisible(shown)
        rest = self._header.sizeHint().height() + self.footer.sizeHint().height() + 2
        wanted = 0
        if shown:
            wanted = min(self.body.wanted_height(), self.highest - rest)
            self.body.setFixedHeight(wanted)
        self.place(rest + wanted)
        self.body.settle()

    def _fit_finally(self) -> None:
        self._fit()
        self._trace("fitted", height=self.height())

    # ------------------------------------------------------------ time

    def _pace(self) -> None:
        """Ticks only while something moves: frames for the spinner, twice a second for the clock."""
        run = self._view.shown
        active = self.isVisible() and run is not None and not run.ended
        turning = active and self._motion and run is not None and not run.needs_person
        pause = _FRAME_MS if turning else _STILL_MS
        if not active:
            self._timer.stop()
        elif not self._timer.isActive() or self._timer.interval() != pause:
            self._timer.start(pause)

    def _tick(self) -> None:
        if self._motion:
            self.body.plan.turn(time.monotonic())
        self.footer.show_time(self._view)
        self.body.show_time(self._view)
        if self.body.catch_up(self._view, self.palette_of_theme):
            self._fit()

    # ------------------------------------------------------------ visibility and focus

    def toggle(self) -> None:
        """Hides the window if the user sees it, otherwise shows it."""
        if self.is_seen:
            self.hide()
        else:
            self.appear()

    def appear(self) -> None:
        """Shows the window with the focus on what needs the user. A window that is covered, or on another workspace, comes to
        the front of this one.
        """
        if self.isVisible() and not self.is_seen:
            self._withdraw()
        if self.body.card is not None:
            self.body.card.shown_again()
        self._draw()
        self.show()
        self._draw()
        self.body.follow()
        self.take_focus()
        self._focus()

    def _withdraw(self) -> None:
        """Takes the window from the display, which puts a new one in front. For the user it was open all the time."""
        self._withdrawn = True
        self.hide()
        self._trace("withdrawn")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._withdrawn:
            self._withdrawn = False
            return
        self._trace("shown")
        self._actions.visible()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._escape_key.forget()
        if self._withdrawn:
            return
        self._timer.stop()
        self._trace("hidden")
        self._actions.hidden()
        self.hid.emit()

    def _focus(self) -> None:
        if self.body.card is not None and not self._history_shown:
            self.body.card.focus()
        else:
            self.prompt.setFocus()

    # ------------------------------------------------------------ keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and self._key(event):
            return True
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Text that no other part takes, such as that typed while the answer has the focus, is for the prompt."""
        if self._key(event):
            return
        if enters_text(event) and self.body.card is None and self.focusWidget() is not self.prompt:
            self.prompt.setFocus()
            QApplication.sendEvent(self.prompt, event)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self._key(event):
            super().keyReleaseEvent(event)

    def _key(self, event: QKeyEvent) -> bool:
        """Whether the key was a command."""
        if event.key() == Qt.Key.Key_Escape:
            if self._escape_key.released(event):
                self._escape()
            return True
        if event.type() is not QEvent.Type.KeyPress:
            return False
        if self._is_ignored(event):
            self._trace("ignored", key=Qt.Key(event.key()).name)
            return True
        if self._shows_card_first(event):
            return True
        if (number := option_of(event)) and isinstance(self.body.card, QuestionCard):
            if not event.isAutoRepeat():
                self.body.card.choose(number)
            return True
        if self._history_shown and event.key() in {Qt.Key.Key_Up, Qt.Key.Key_Down}:
            self.body.history.move(1 if event.key() == Qt.Key.Key_Down else -1)
            return True
        empty = self.prompt.isReadOnly() or not self.prompt.toPlainText()
        if event.key() == Qt.Key.Key_Up and self.body.card is None and empty:
            self.perform(Command.HISTORY)
            return True
        if event.key() in {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown} and self.body.isVisible():
            self.body.turn_pages(1 if event.key() == Qt.Key.Key_PageDown else -1)
            return True
        command = command_of(event)
        if command in DECIDES and event.isAutoRepeat() and isinstance(self.body.card, ApprovalCard):
            return True
        return command is not None and self.perform(command)

    def _is_ignored(self, event: QKeyEvent) -> bool:
        """Whether the card is too new for this key. What is typed for a question is kept, and its options wait."""
        card = self.body.card
        too_new = card is not None and card.guarded and not self._history_shown
        return too_new and (not isinstance(card, QuestionCard) or bool(option_of(event)))

    def _shows_card_first(self, event: QKeyEvent) -> bool:
        """Whether the key would act on a card that is out of view, and shows it instead. Typed text is entered as well."""
        card, focused = self.body.card, self.focusWidget()
        if card is None or self._history_shown:
            return False
        on_card = presses(event) and (focused is card or card.isAncestorOf(focused))
        if not (on_card or option_of(event)) or self.body.shows_card():
            return False
        return not (isinstance(focused, QLineEdit) and enters_text(event))

    def _escape(self) -> None:
        if self._history_shown or self._keys_shown:
            self._history_shown = self._keys_shown = False
            self._stage = None
            self._draw()
            self._focus()
        else:
            self.perform(Command.HIDE)

    def perform(self, command: Command) -> bool:
        """Performs a command; False if it has no meaning now, so that the key goes to the focused widget."""
        run, card = self._view.shown, self.body.card
        self._trace("command", name=command.name)
        if command in DECIDES and isinstance(card, ApprovalCard) and not self.body.shows_card():
            return True
        match command:
            case Command.HIDE:
                if self._view.writing and run is not None:
                    self._actions.open_run(run.run_id)
                else:
                    self.hide()
            case Command.SEND:
                self._send()
            case Command.STOP:
                self._actions.stop()
            case Command.DETAILS:
                self._details = not self._details
                self._draw()
            case Command.COPY:
                return self._copy()
            case Command.UNDO if run is not None and run.undoable and not self._view.writing:
                self._actions.undo()
            case Command.NEW:
                self._actions.start_new()
                self._focus()
            case Command.HISTORY:
                self._show_history()
            case Command.RETRY:
                self._actions.retry()
            case Command.KEYS:
                self._show_keys()
            case Command.ALLOW if isinstance(card, ApprovalCard):
                card.allow()
            case Command.ALLOW_RUN if isinstance(card, ApprovalCard):
                card.allow("run")
            case Command.DENY if isinstance(card, ApprovalCard):
                card.deny()
            case _:
                return False
        return True

    def _send(self) -> None:
        if self._history_shown:
            chosen = self.body.history.chosen
            self._history_shown = False
            self._stage = None
            if chosen is not None:
                self._actions.open_run(chosen.run_id)
            self._draw()
        elif self._view.writing and self.prompt.toPlainText().strip():
            self._actions.submit(self.prompt.toPlainText().strip())
        elif not self._view.writing and self._view.draft:
            self._actions.follow_up("")

    def _edited(self, text: str) -> None:
        if self._history_shown:
            self._draw()
        else:
            self._actions.draft(text)

    def _copy(self) -> bool:
        """Copies the selection, or the whole answer or error if nothing is selected."""
        run = self._view.shown
        if run is None or self._view.writing or self.body.answer.textCursor().hasSelection():
            return False
        problem = run.steps.problem.message if run.steps.problem else ""
        text = run.steps.answer.text if run.steps.answer else problem
        if text:
            QGuiApplication.clipboard().setText(text)
            self._trace("copied")
        return bool(text)

    def _show_history(self) -> None:
        self._history_shown = not self._history_shown
        if self._history_shown:
            self.prompt.show_text("", read_only=False)
            self._actions.show_history()
        self._stage = None if not self._history_shown else self._stage
        self._draw()
        self.prompt.setFocus()

    def _show_keys(self) -> None:
        self._keys_shown = not self._keys_shown
        self._draw()


def application(arguments: list[str]) -> QApplication:
    """The Qt application, which stays when the window is hidden."""
    app = QApplication(arguments)
    app.setApplicationName("aeon-popup")
    app.setApplicationDisplayName("aeon")
    app.setDesktopFileName("dev.aeon.Popup")
    app.setQuitOnLastWindowClosed(False)
    return app
