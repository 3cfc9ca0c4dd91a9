"""Streams the text of an answer out of the JSON that a model is still writing."""

import json
import re
from typing import Final

from aeond.orchestration.decision.forms.schema import ANSWER, CANNOT
from aeond.ports import TextSink

_OPENING: Final = re.compile(rf'\s*\{{\s*"(?:{ANSWER}|{CANNOT})"\s*:\s*"')
_TEXT: Final = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_HIGH_SURROGATE: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")
_MAX_OPENING_CHARS: Final = 80


class AnswerStream:
    """Takes the pieces of a decision and passes on the decoded text of an answer; other actions stay hidden."""

    def __init__(self, on_text: TextSink) -> None:
        self._on_text = on_text
        self._waiting = ""
        self._inside = False
        self._over = False
        self.shown = False

    def feed(self, piece: str) -> None:
        """The next piece; "" discards all that came before, because the model begins again."""
        if piece == "":
            self.restart()
            return
        if self._over:
            return
        self._waiting += piece
        if not self._inside:
            opening = _OPENING.match(self._waiting)
            if opening is None:
                self._over = len(self._waiting) > _MAX_OPENING_CHARS
                return
            self._inside, self._waiting = True, self._waiting[opening.end() :]
        self._show()

    def restart(self) -> None:
        if self.shown:
            self._on_text("")
        self._waiting, self._inside, self._over, self.shown = "", False, False, False

    def _show(self) -> None:
        match = _TEXT.match(self._waiting)
        raw = match.group() if match else ""
        if pair := _HIGH_SURROGATE.search(raw):  # the second half of the character is still to come
            raw = raw[: pair.start()]
        rest = self._waiting[len(raw) :]
        self._over = rest.startswith('"')
        self._waiting = rest
        if raw:
            self._on_text(json.loads(f'"{raw}"', strict=False))
            self.shown = True
