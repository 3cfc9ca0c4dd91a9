"""The tokenizer of uncased BERT models: normalisation, words, and WordPiece.

The `tokenizers` library gives the same ids (tests/unit/capabilities/embedding). It is not used because it installs a
client of a model hub with eleven packages beside it. One difference is intended: names of special tokens that occur
in a text, such as `[SEP]`, are ordinary text here.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from aeond.errors import LLMError

MAX_WORD_CHARS = 100
_UNKNOWN = "[UNK]"
_FIRST, _LAST = "[CLS]", "[SEP]"

_CONTROL = frozenset({"Cc", "Cf", "Co", "Cs"})

# CJK ideographs, each of which is a word; Hiragana, Katakana and Hangul are not among them.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Turns a text into the ids of a vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._ids = vocabulary
        self._unknown = vocabulary[_UNKNOWN]
        self._first, self._last = vocabulary[_FIRST], vocabulary[_LAST]

    def encode(self, text: str, limit: int) -> list[int]:
        """The ids between those of the first and the last special token; `limit` ids in all."""
        ids = [self._first]
        for word in _words(_normalised(text)):
            ids += self._pieces(word)
            if len(ids) >= limit - 1:
                break
        return [*ids[: limit - 1], self._last]

    def _pieces(self, word: str) -> Sequence[int]:
        """The longest known pieces from left to right; the unknown token if some part has none."""
        if len(word) > MAX_WORD_CHARS:
            return (self._unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else f"##{word[start:end]}"
                found = self._ids.get(piece)
                if found is not None:
                    pieces.append(found)
                    start = end
                    break
            else:
                return (self._unknown,)
        return pieces


def read_vocabulary(path: Path) -> Mapping[str, int]:
    """A vocabulary file: one token a line, its id is the number of the line.

    Raises OSError, and LLMError (reason MODEL_DAMAGED) if the special tokens are missing.
    """
    tokens = path.read_text(encoding="utf-8").split("\n")
    ids = {token: number for number, token in enumerate(tokens) if token}
    if not {_UNKNOWN, _FIRST, _LAST} <= ids.keys():
        raise LLMError(f"{path} is not a WordPiece vocabulary", reason="MODEL_DAMAGED")
    return ids


def _normalised(text: str) -> str:
    """Without control characters, accents and capitals; ideographs stand apart."""
    kept: list[str] = []
    for char in text:
        if char in "\t\n\r" or char.isspace():
            kept.append(" ")
        elif char == "\ufffd" or unicodedata.category(char) in _CONTROL:
            continue
        elif _is_ideograph(ord(char)):
            kept.append(f" {char} ")
        else:
            kept.append(char)
    decomposed = unicodedata.normalize("NFD", "".join(kept))
    return "".join(char.lower() for char in decomposed if unicodedata.category(char) != "Mn")


def _words(text: str) -> Iterator[str]:
    """Stretches without a space, with each punctuation character as a word of its own."""
    for stretch in text.split():
        start = 0
        for place, char in enumerate(stretch):
            if _is_punctuation(char):
                if start < place:
                    yield stretch[start:place]
                yield char
                start = place + 1
        if start < len(stretch):
            yield stretch[start:]


def _is_ideograph(code: int) -> bool:
    return code >= 0x3400 and any(first <= code <= last for first, last in _IDEOGRAPHS)


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return not char.isalnum() and char.isprintable() and char != " "
    return unicodedata.category(char)[0] == "P"
