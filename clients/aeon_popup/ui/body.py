"""The body between header and footer: plan, card, answer and lists; and the footer itself."""

import time
from collections.abc import Callable
from dataclasses import replace
from html import escape

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from aeon_popup.actions import Actions
from aeon_popup.state import wording
from aeon_popup.state.happenings import HotkeySet
from aeon_popup.state.run_view import RunView
from aeon_popup.state.session import Link, SessionView
from aeon_popup.ui.answer import AnswerText, Changes
from aeon_popup.ui.cards import AnyCard, card_of, identity_of
from aeon_popup.ui.commands import Command, Offer, offered
from aeon_popup.ui.history import HistoryList
from aeon_popup.ui.plan import PlanList
from aeon_popup.ui.theme import WIDTH, Palette, breakable, named

# Long answers are formatted again at most this often while they stream in.
_LONG_ANSWER = 4_000
_FORMAT_SECONDS = 0.15
_EDGE = 22
# The scroll bar beside a long answer.
_BAR = 12
# The space above and below a part that was scrolled to.
_AROUND = 14
_BIND = "bind a key of your desktop to: aeon-popup --toggle"


class Scrolled(QScrollArea):
    """A scrolled area that keeps one part of its content in view, or its end, until a person scrolls by hand."""

    def __init__(self) -> None:
        super().__init__()
        self._content = named(QWidget(), "body")
        self._kept: QWidget | None = None
        self._to_end = self._by_hand = False
        self._settled: tuple[object, ...] = ()
        bar = self.verticalScrollBar()
        bar.actionTriggered.connect(self._scrolled_by_hand)
        bar.rangeChanged.connect(self.settle)

    def keep_in_view(self, part: QWidget | None, *, to_end: bool = False) -> None:
        """Keeps this part in view: whole, or from its top if it is higher than the area; with `to_end` its lower edge."""
        self._kept, self._to_end = part, to_end

    def follow(self) -> None:
        """Moves to the kept part, also if a person has scrolled away from it."""
        self._by_hand, self._settled = False, ()
        self.settle()

    def settle(self) -> None:
        """Moves to the kept part if the layout has changed since the last move."""
        if self._kept is None or self._kept.isHidden() or self._by_hand:
            return
        top, bottom = self._edges(self._kept)
        bar, room = self.verticalScrollBar(), self.viewport().height()
        settled = (self._kept, self._to_end, top, bottom, room, bar.maximum())
        if settled == self._settled:
            return
        self._settled = settled
        if self._to_end:
            bar.setValue(bar.maximum())
        elif bottom - top + 2 * _AROUND > room:
            bar.setValue(top if bottom - top > room else bottom - room)
        else:
            bar.setValue(min(max(bar.value(), bottom + _AROUND - room), top - _AROUND))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the content as wide as the area: a long word is cut, instead of pushing buttons out of view."""
        super().resizeEvent(event)
        self._content.setMaximumWidth(self.viewport().width())

    def has_in_view(self, part: QWidget) -> bool:
        """Whether the whole part is in view, or nothing but a part of it."""
        if not self.isVisible() or part.isHidden():
            return False
        top, bottom = self._edges(part)
        start, room = self.verticalScrollBar().value(), self.viewport().height()
        return min(bottom, start + room) - max(top, start) >= min(bottom - top, room)

    def _edges(self, part: QWidget) -> tuple[int, int]:
        """The upper and the lower edge of a part, from the top of the content."""
        top = part.mapTo(self._content, QPoint(0, 0)).y()
        return top, top + part.height()

    def _scrolled_by_hand(self) -> None:
        """At the end of a growing text, the end is followed again."""
        bar = self.verticalScrollBar()
        self._by_hand = not (self._to_end and bar.sliderPosition() == bar.maximum())


class Body(Scrolled):
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
        self._place: tuple[object, ...] = ()
        self._newest: QWidget | None = None
        self._appeared = False
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
        self.keys.setWordWrap(True)
        self._inside = QVBoxLayout(self._content)
        self._inside.setContentsMargins(_EDGE, 14, _EDGE, 14)
        self._inside.setSpacing(14)
        for widget in (self.history, self.plan, self.note, self.answer, self.changes, self.keys):
            widget.hide()
            self._inside.addWidget(widget)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self._content.setAutoFillBackground(False)

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
        self._place = ()
        self.keep_in_view(None)
        self.history.show_runs(view.history or (), wanted, palette)
        self.history.setVisible(self.history.count() > 0)
        self._show_note(*wording.about_history(view, self.history.count()))

    def show_run(self, view: SessionView, palette: Palette, *, details: bool, keys: bool) -> None:
        """Shows the run of the view, if there is one."""
        run = view.shown
        self.history.hide()
        if keys:
            self._fill_keys(view.hotkey, palette)
        if keys and self.keys.isHidden():
            self._newest, self._appeared = self.keys, True
        self.keys.setVisible(keys)
        # The list of keys has the problem of the hotkey.
        self._draw_note(replace(view, hotkey=HotkeySet()) if keys else view)
        self._draw_card(view, run, palette)
        self.plan.setVisible(run is not None)
        if run is not None:
            self.plan.show_run(run, palette, details=details)
        self._draw_answer(run, palette)
        self._keep(run, details=details)

    def catch_up(self, view: SessionView, palette: Palette) -> bool:
        """Formats a long answer that has grown since it was last formatted; whether there was one."""
        behind = self._answer_behind
        if behind:
            self._draw_answer(view.shown, palette)
        return behind

    def _fill_keys(self, hotkey: HotkeySet, palette: Palette) -> None:
        """Fills the table of the keys."""
        cells = [
            f'<td width="110" style="color: {palette.dim}">{key}</td><td width="210">{words}</td>'
            for key, words in ((", ".join(command.keys), command.words) for command in Command)
        ]
        rows = "".join(f"<tr>{''.join(cells[start : start + 2])}</tr>" for start in range(0, len(cells), 2))
        shown = escape(hotkey.shortcut or hotkey.problem or _BIND)
        first = f'<tr><td style="color: {palette.dim}">Hotkey</td><td colspan="3">{shown}</td></tr>'
        self.keys.setText(f'<table width="100%" cellpadding="4">{first}{rows}</table>')

    def turn_pages(self, pages: int) -> None:
        bar = self.verticalScrollBar()
        bar.setSliderPosition(bar.value() + pages * (self.height() - 40))

    def shows_card(self) -> bool:
        """Whether the card is in view. If not, the body scrolls to it, and keys count for it as for a new one."""
        if self.card is None or self.has_in_view(self.card):
            return True
        self._newest = self.card
        self.keep_in_view(self.card)
        self.follow()
        self.card.shown_again()
        return False

    def _keep(self, run: RunView | None, *, details: bool) -> None:
        """Keeps in view what appeared last, else the end of a growing answer, else the running step. A finished run that did
        not grow here is shown from its start.
        """
        urgent = next(
            (one for one in (self._newest, self.card, self.keys) if one and not one.isHidden()), None
        )
        before, ended = self._place, run is not None and run.ended
        self._place = (run.key if run else "", ended, ended and details)
        if self._appeared or before[:1] != self._place[:1]:
            self._appeared = self._by_hand = False
        if before[:1] != self._place[:1]:
            self._show_start()
        if urgent is not None:
            self.keep_in_view(urgent)
        elif run is not None and not ended:
            growing = bool(run.steps.answer_text)
            self.keep_in_view(self.answer if growing else self.plan.active_row, to_end=growing)
        elif self._place != before and not (self._to_end and self._place == (before[0], True, False)):
            self._show_start()
        elif self._by_hand:
            self.keep_in_view(None)

    def _show_start(self) -> None:
        self.keep_in_view(None)
        self.verticalScrollBar().setValue(0)

    def _hide_run(self, palette: Palette) -> None:
        self._replace_card(("", ""), None, palette)
        for widget in (self.plan, self.note, self.answer, self.changes):
            widget.hide()

    def _draw_note(self, view: SessionView) -> None:
        self._show_note(*wording.explanation(view, view.shown))

    def _show_note(self, start: str, rest: str) -> None:
        bold, plain = (escape(breakable(part)) for part in (start, rest))
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
        self._newest, self._appeared = self.card, self.card is not None
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

    def show_view(self, view: SessionView, listed: int | None) -> None:
        self.show_time(view)
        offers = offered(view, listed)
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
