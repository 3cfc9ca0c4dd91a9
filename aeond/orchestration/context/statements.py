"""The sentences of a conversation, by form: their marks decide, never their words, so that every language is read alike.

A question is recognised by its final mark. Every other sentence is a statement. Where the form leaves open whether
a sentence is only a question, it counts as a statement: keeping it costs a few tokens, losing it loses what it says.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

MAX_LINE_CHARS: Final = 400

_QUESTION_MARKS: Final = "?？؟⁇⁈⁉‽፧\u037e"
# These end a sentence wherever they are; `.`, `!`, `?` and `…` only before a space or a letter that needs none.
_FULL_STOPS: Final = "。｡！？؟۔।॥։።፧។៕။‼⁇⁈⁉‽\u037e"
_MARKS: Final = f".!?…．{_FULL_STOPS}"
_CLOSERS: Final = "\"'\u201d\u2019\u00bb)\\]」』）】"
_END: Final = re.compile(rf"(?<![{_MARKS}])[{_MARKS}]++[{_CLOSERS}]*+\s*+|\n\s*+")
_ASKS: Final = re.compile(
    rf"(?:[{_QUESTION_MARKS}]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);)[{_MARKS}]*+[{_CLOSERS}\s]*+\Z"
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_OPERANDS: Final = 2
_LAST_WORD: Final = re.compile(r"[^\W_]*\Z")
_ABBREVIATION_CHARS: Final = 2
_STOP_INSIDE: Final = re.compile(rf"[.…．][{_CLOSERS}]*+(?:\s|[^\x00-\x7f])")


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, verbatim. Each line begins a new one."""
    found: list[str] = []
    begin = 0
    for end in _END.finditer(text):
        if _ends_sentence(text, end):
            found.append(text[begin : end.end()])
            begin = end.end()
    found.append(text[begin:])
    return tuple(sentence for part in found if (sentence := part.strip()))


def is_question(sentence: str) -> bool:
    return _ASKS.search(sentence) is not None


def statements(text: str) -> tuple[str, ...]:
    """The sentences of a text, as lines, that are not questions. A question with a full stop inside, which may end a
    statement before it, counts as a statement."""
    return tuple(
        line_of(sentence)
        for sentence in sentences(text)
        if not is_question(sentence) or _STOP_INSIDE.search(sentence)
    )


def last_question(text: str) -> str:
    """The question that an answer ends with; "" when it ends with none."""
    said = sentences(text)
    return line_of(said[-1]) if said and is_question(said[-1]) else ""


def question_and_rest(text: str) -> tuple[str, str]:
    """A text up to its last question, and the sentences behind that, which may be an order; the second is "" if there is no question or
    nothing behind it."""
    questions = [one for one in sentences(text) if is_question(one)]
    end = text.rindex(questions[-1]) + len(questions[-1]) if questions else len(text)
    return text[:end].strip(), text[end:].strip()


def beside_questions(text: str) -> str:
    """The sentences beside its questions, which may be an order; "" if there is no question."""
    said = sentences(text)
    rest = [one for one in said if not is_question(one)]
    return " ".join(rest) if len(rest) < len(said) else ""


def line_of(text: str) -> str:
    """A text as one line; beyond MAX_LINE_CHARS it is cut, visibly."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 6].rstrip() + " [...]"


def without_repeats(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines; of equal ones only the last."""
    by_key: dict[str, str] = {}
    for line in lines:
        key = comparison_key(line)
        by_key.pop(key, None)
        by_key[key] = line
    return tuple(by_key.values())


def comparison_key(line: str) -> str:
    """A line without what is ignored in comparisons: case, spaces, final marks."""
    return " ".join(line.casefold().split()).rstrip(f"{_MARKS} ")


def newest(lines: Sequence[str], max_chars: int) -> tuple[str, ...]:
    """The last lines that fit into so many characters."""
    total = 0
    for place in range(len(lines) - 1, -1, -1):
        total += len(lines[place]) + 1
        if total > max_chars:
            return tuple(lines[place + 1 :])
    return tuple(lines)


def _ends_sentence(text: str, end: re.Match[str]) -> bool:
    """Whether a sentence ends at these marks. A full stop before a small letter or a digit, or after a digit or the
    letters of an abbreviation (a single one, or two with a capital), is taken for one inside of a sentence."""
    found, after = end.group(), text[end.end() : end.end() + 1]
    if "\n" in found or any(mark in _FULL_STOPS for mark in found):
        return True
    if not found[-1].isspace() and unicodedata.east_asian_width(after or " ") not in "WF":
        return False
    if "!" in found or "?" in found:
        return True
    word = _LAST_WORD.findall(text[max(0, end.start() - _ABBREVIATION_CHARS - 1) : end.start()])[0]
    short = len(word) == 1 or (len(word) <= _ABBREVIATION_CHARS and word[:1].isupper())
    inside = found.count(".") == 1 and (short or word[-1:].isdigit())
    return not (inside or after.islower() or after.isdigit())


def gives_operands(text: str) -> bool:
    """Whether the text has at least two numbers, so that a calculation with them needs no look into files."""
    return len(_NUMBER.findall(text)) >= _OPERANDS
