"""The commands of the window, their keys, and which of them the footer offers at each stage."""

from collections.abc import Callable
from enum import Enum

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from aeon_popup.state.run_view import Stage
from aeon_popup.state.session import Link, SessionView
from aeon_popup.trace import Trace

_CTRL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
_NONE = Qt.KeyboardModifier.NoModifier
# Held with a character, these keys make it a command.
COMMAND_KEYS = _CTRL | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class Command(Enum):
    """A command: its key as shown, its name, and further keys for the list of all."""

    SEND = ("⏎", "Send")
    NEWLINE = ("Shift+⏎", "New line")
    HIDE = ("Esc", "Hide")
    STOP = ("Ctrl+.", "Stop")
    DETAILS = ("Ctrl+D", "Details")
    COPY = ("Ctrl+C", "Copy")
    UNDO = ("Ctrl+Z", "Undo changes")
    NEW = ("Ctrl+N", "New")
    HISTORY = ("↑", "History", "Ctrl+H")
    RETRY = ("Ctrl+R", "Retry")
    KEYS = ("F1", "Keys")
    ALLOW = ("Ctrl+⏎", "Allow once")
    ALLOW_RUN = ("Ctrl+Shift+⏎", "Allow for this run")
    DENY = ("Ctrl+⌫", "Deny")
    CHOOSE = ("Alt+1…9", "Choose")
    NEXT = ("Tab", "Next button", "Shift+Tab")
    PRESS = ("Space", "Press the button")
    SCROLL = ("PgUp", "Scroll", "PgDn")

    def __init__(self, key: str, words: str, *more: str) -> None:
        self.key = key
        self.words = words
        self.keys = (key, *more)


_KEYS = {
    (_CTRL, Qt.Key.Key_Period): Command.STOP,
    (_CTRL, Qt.Key.Key_D): Command.DETAILS,
    (_CTRL, Qt.Key.Key_C): Command.COPY,
    (_CTRL, Qt.Key.Key_Z): Command.UNDO,
    (_CTRL, Qt.Key.Key_N): Command.NEW,
    (_CTRL, Qt.Key.Key_H): Command.HISTORY,
    (_CTRL, Qt.Key.Key_R): Command.RETRY,
    (_CTRL, Qt.Key.Key_Return): Command.ALLOW,
    (_CTRL, Qt.Key.Key_Enter): Command.ALLOW,
    (_CTRL | _SHIFT, Qt.Key.Key_Return): Command.ALLOW_RUN,
    (_CTRL | _SHIFT, Qt.Key.Key_Enter): Command.ALLOW_RUN,
    (_CTRL, Qt.Key.Key_Backspace): Command.DENY,
    (_NONE, Qt.Key.Key_F1): Command.KEYS,
}


def command_of(event: QKeyEvent) -> Command | None:
    """The command of a key press; None for keys that belong to the focused widget."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return _KEYS.get((modifiers, Qt.Key(event.key())))


# The commands that decide about the card.
DECIDES = frozenset({Command.ALLOW, Command.ALLOW_RUN, Command.DENY})
# Keys that move the focus or are held with another key: they press nothing.
_MOVES = {
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
}


def presses(event: QKeyEvent) -> bool:
    """Whether a key press acts on the widget that has the focus: it is no command and does not move the focus."""
    return command_of(event) is None and event.key() not in _MOVES


def enters_text(event: QKeyEvent) -> bool:
    """Whether a key press is a character or a paste."""
    typed = bool(event.text()) and event.text().isprintable() and not event.modifiers() & COMMAND_KEYS
    return typed or event.matches(QKeySequence.StandardKey.Paste)


def option_of(event: QKeyEvent) -> int:
    """The number of the option that Alt and a digit choose; 0 for any other key."""
    digit = event.key() - Qt.Key.Key_0.value
    return digit if event.modifiers() == Qt.KeyboardModifier.AltModifier and 1 <= digit <= 9 else 0


class ReleasedKey:
    """A key that acts when it is released, so that none of its repeats reaches the window below.
    `is_held` tells whether the key is down now.
    """

    def __init__(self, is_held: Callable[[], bool], trace: Trace) -> None:
        self._is_held = is_held
        self._trace = trace
        self.forget()

    def forget(self) -> None:
        """Ignores the release of a key that is down."""
        self._pressed, self._doubtful_at = False, 0

    def released(self, event: QKeyEvent) -> bool:
        """Whether this event shows that the key was released.

        X11 sends a release for each repeat. If the key is down when a release is processed, then it was a repeat, or the
        key was pressed again since: the press that follows has the same time in the one case and a later one in the other.
        """
        if event.type() is QEvent.Type.KeyPress:
            again = self._pressed and self._doubtful_at not in {0, event.timestamp()}
            if self._pressed and not again:
                self._trace("repeat")
            self._pressed, self._doubtful_at = True, 0
            return again
        if event.type() is not QEvent.Type.KeyRelease or not self._pressed or event.isAutoRepeat():
            return False
        if self._is_held():
            self._doubtful_at = event.timestamp()
            return False
        self.forget()
        return True


Offer = tuple[Command, str]


def offered(view: SessionView, listed: int | None = None) -> list[Offer]:
    """The commands in the footer, each with its words at this stage. `listed` is the number of recent runs in the list of the history;
    None while it is not shown.
    """
    run = view.shown
    if listed is not None:
        return [*([(Command.SEND, "Open")] if listed else []), (Command.HIDE, "Back")]
    hide = (Command.HIDE, "Back" if view.writing and run is not None else "Hide")
    if view.writing and view.stage is not Stage.UNAVAILABLE:
        # Up moves the cursor in a text.
        more = [] if view.draft else [(Command.HISTORY, "History")]
        keys = [(Command.KEYS, "Keys")] if run is None and not view.draft else []
        return [*more, *keys, (Command.SEND, "Send"), hide]
    draft = [(Command.SEND, "Draft")] if view.draft else []
    undo = [(Command.UNDO, "Undo")] if run and run.undoable and view.link is not Link.DOWN else []
    match view.stage:
        case Stage.UNAVAILABLE:
            return [hide] if view.starting else [(Command.RETRY, "Start aeond"), hide]
        case Stage.PLANNING | Stage.RUNNING:
            stop = (Command.STOP, "Stop")
            return [stop, (Command.DETAILS, "Details"), (Command.HIDE, "Hide (keeps running)")]
        case Stage.QUESTION:
            chosen = bool(run and run.questions and run.questions[0].question.options)
            answer = (Command.CHOOSE, "Choose") if chosen else (Command.SEND, "Answer")
            return [answer, (Command.STOP, "Stop"), hide]
        case Stage.APPROVAL:
            return [(Command.ALLOW, "Allow once"), (Command.DENY, "Deny"), hide]
        case Stage.DECISION:
            return [(Command.STOP, "Stop"), (Command.DETAILS, "Details"), hide]
        case Stage.FAILED:
            return [
                *draft,
                (Command.RETRY, "Retry"),
                (Command.COPY, "Copy error"),
                *undo,
                (Command.NEW, "New"),
                hide,
            ]
        case Stage.CANCELLED:
            return [*draft, (Command.RETRY, "Retry"), *undo, (Command.NEW, "New"), hide]
        case _:
            more = [(Command.COPY, "Copy"), *undo, (Command.DETAILS, "Details"), (Command.NEW, "New")]
            return [*more, *(draft or [(Command.HISTORY, "History")]), hide]
