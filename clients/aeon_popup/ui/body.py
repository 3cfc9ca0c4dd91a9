"""The body between header and footer: plan, card, answer and lists; and the footer itself."""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from aeon_popup.actions import Actions
from aeon_popup.state import wording
from aeon_popup.state.run_view import RunView
from aeon_popup.state.session import Link, SessionView
from aeon_popup.ui.answer import AnswerText, Changes
from aeon_popup.ui.cards import AnyCard, card_of, identity_of
from aeon_popup.ui.commands import Command, Offer, offered
from aeon_popup.ui.history import HistoryList
from aeon_popup.ui.plan import PlanList
from aeon_popup.ui.theme import WIDTH, Palette, named

# Long answers are formatted again at most this often while they stream in.
_LONG_ANSWER = 4_000
_FORMAT_SECONDS = 0.15
_EDGE = 22
# The scroll bar beside a long answer.
_BAR = 12


class Body(QScrollArea):
    """Everything between the two rules. `card_changed` is called after a card appeared or went away."""

    def __init__(
        self,
        actions: Actions,
        palette: Palette,
        card_changed: Callable[[AnyCard | None], None],
        now: Callable[[], float],
    ) -> None:
        super().__init__()
        self.setObjectName("body")
        self._actions = actions
        self._card_changed = card_changed
        self._subject = ("", "")
        self._formatted = 0.0
        self._answer_behind = False
        self.card: AnyCard | None = None
        self.plan = PlanList(palette)
        self.note = named(QLabel(), "note")
        self.note.setWordWrap(True)
        self.answer = AnswerText()
        self.changes = Changes()
        self.history = HistoryList(now)
        self.keys = named(QLabel(), "keys")
        inside = named(QWidget(), "body")
        self._inside = QVBoxLayout(inside)
        self._inside.setContentsMargins(_EDGE, 14, _EDGE, 14)
        self._inside.setSpacing(14)
        for widget in (self.history, self.plan, self.note, self.answer, self.changes, self.keys):
            widget.hide()
            self._inside.addWidget(widget)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        inside.setAutoFillBackground(False)

    @property
    def occupied(self) -> bool:
        """Whether there is anything to show."""
        shown = (self.history, self.plan, self.note, self.answer, self.changes, self.keys, self.card)
        return any(not widget.isHidden() for widget in shown if widget is not None)

    def wanted_height(self) -> int:
        """The height of the content in pixels."""
        self._inside.activate()
        return max(self._inside.totalHeightForWidth(WIDTH), self._inside.totalMinimumSize().height())

    def show_history(self, view: SessionView, wanted: str, palette: Palette) -> None:
        """Shows the recent runs instead of a run."""
        self._hide_run(palette)
        self.keys.hide()
        self.history.show_runs(view.history or (), wanted, palette)
        self.history.setVisible(self.history.count() > 0)
        self._show_note(*wording.about_history(view, self.history.count()))

    def show_run(self, view: SessionView, palette: Palette, *, details: bool, keys: bool) -> None:
        """Shows the run of the view, if there is one."""
        run = view.shown
        self.history.hide()
        self.keys.setVisible(keys)
        self._draw_note(view)
        self._draw_card(view, run, palette)
        self.plan.setVisible(run is not None)
        if run is not None:
            self.plan.show_run(run, palette, details=details)
        self._draw_answer(run, palette)

    def catch_up(self, view: SessionView, palette: Palette) -> bool:
        """Formats a long answer that has grown since it was last formatted; whether there was one."""
        behind = self._answer_behind
        if behind:
            self._draw_answer(view.shown, palette)
        return behind

    def show_keys(self, hotkey: str, palette: Palette) -> None:
        """Fills the table of the keys."""
        cells = [
            f'<td width="86" style="color: {palette.dim}">{key}</td><td width="240">{words}</td>'
            for key, words in ((command.key, command.words) for command in Command)
        ]
        rows = "".join(f"<tr>{''.join(cells[start : start + 2])}</tr>" for start in range(0, len(cells), 2))
        shown = hotkey.replace("&", "&amp;").replace("<", "&lt;")
        first = f'<tr><td style="color: {palette.dim}">Hotkey</td><td colspan="3">{shown}</td></tr>'
        self.keys.setText(f'<table cellpadding="4">{first}{rows}</table>')

    def turn_pages(self, pages: int) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * (self.height() - 40))

    def _hide_run(self, palette: Palette) -> None:
        self._replace_card(("", ""), None, palette)
        for widget in (self.plan, self.note, self.answer, self.changes):
            widget.hide()

    def _draw_note(self, view: SessionView) -> None:
        self._show_note(*wording.explanation(view, view.shown))

    def _show_note(self, start: str, rest: str) -> None:
        bold, plain = (part.replace("&", "&amp;").replace("<", "&lt;") for part in (start, rest))
        self.note.setText(f"<b>{bold}</b> {plain}" if bold else plain)
        self.note.setVisible(bool(start or rest))

    def _draw_card(self, view: SessionView, run: RunView | None, palette: Palette) -> None:
        away = view.link is Link.DOWN
        subject = (run.key, identity_of(run)) if run is not None and not away else ("", "")
        if subject != self._subject:
            self._replace_card(subject, run, palette)
        self.show_time(view)

    def show_time(self, view: SessionView) -> None:
        """The state of the card and the time that is left for it."""
        run = view.shown
        if self.card is not None and run is not None:
            self.card.show_state(sent=run.subject in run.sent, note=run.note)

    def _replace_card(self, subject: tuple[str, str], run: RunView | None, palette: Palette) -> None:
        before, self._subject = self.card, subject
        self.card = card_of(run, self._actions, palette) if run is not None and subject[1] else None
        if before is not None:
            self._inside.removeWidget(before)
            before.hide()
            before.deleteLater()
        if self.card is not None:
            self._inside.insertWidget(2, self.card)
            # A layout shows its widgets only later. A key pressed until then would pass the buttons of the card by.
            self.card.show()
        if (before, self.card) != (None, None):
            self._card_changed(self.card)

    def _draw_answer(self, run: RunView | None, palette: Palette) -> None:
        text = ""
        if run is not None:
            text = run.steps.answer.text if run.steps.answer else run.steps.answer_text
        streaming = run is not None and not run.ended and len(text) > _LONG_ANSWER
        self._answer_behind = streaming and time.monotonic() - self._formatted < _FORMAT_SECONDS
        if text and not self._answer_behind:
            self._formatted = time.monotonic()
            self.answer.show_text(text, palette, WIDTH - 2 * _EDGE - _BAR)
        self.answer.setVisible(bool(text))
        if run is not None and run.ended:
            self.changes.show_run(run)
        else:
            self.changes.hide()


class Footer(QHBoxLayout):
    """The run on the left, the commands of the stage on the right; each can be clicked."""

    def __init__(self, perform: Callable[[Command], object], now: Callable[[], float]) -> None:
        super().__init__()
        self._perform = perform
        self._now = now
        self._offers: list[Offer] = []
        self.meta = named(QLabel(), "meta")
        self._hints = QHBoxLayout()
        self._hints.setSpacing(16)
        self.setContentsMargins(_EDGE, 8, 18, 8)
        self.addWidget(self.meta)
        self.addStretch()
        self.addLayout(self._hints)

    def show_time(self, view: SessionView) -> None:
        """The run and its time, or the socket."""
        words = wording.meta(view, self._now())
        if words != self.meta.text():
            self.meta.setText(words)

    def show_view(self, view: SessionView, *, history: bool) -> None:
        self.show_time(view)
        offers = offered(view, history=history)
        if offers == self._offers:
            return
        self._offers = offers
        while (item := self._hints.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for command, words in offers:
            hint = named(QPushButton(f"{command.key} {words}"), "hints")
            hint.setFlat(True)
            hint.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            hint.setCursor(Qt.CursorShape.PointingHandCursor)
            hint.setAccessibleName(f"{words} ({command.key})")
            hint.clicked.connect(lambda _checked=False, command=command: self._perform(command))
            self._hints.addWidget(hint)
