"""Statements of a conversation that are kept verbatim: matched by pattern alone, so that no model can lose them.

A statement is kept when it binds what comes later (must, never, only, at most, remember ...). A false
positive costs a few tokens; a false negative loses the statement, so the patterns below are broad.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

MAX_LINE_CHARS: Final = 400

_BINDING: Final = re.compile(
    r"\b(must(n['\u2019]t)?|shall|should(n['\u2019]t)?|ought to|(need|have|has)s? to|never|always|only|solely|exactly|strictly|"
    r"at (most|least)|(no|not) (more|less|fewer|later|earlier|longer) than|(up|limited|restricted) to|"
    r"max(imum)?|min(imum)?|within|before|until|by (the|tomorrow|tonight|noon|midnight|"
    r"(mon|tues|wednes|thurs|fri|satur|sun)day|\d)|deadline|budget|limit|"
    r"do(es)?( not|n['\u2019]t)|may not|can( ?not|['\u2019]t)|won['\u2019]t|without|avoid|except|exclud\w+|forbid\w*|"
    r"allerg\w+|prefer\w*|instead of|rather than|no matter|under no circumstances|make sure|be sure|ensure|"
    r"remember|keep in mind|note that|forget|from now on|as long as|important|requir\w+|"
    r"still (need|open|have)|open (question|point)s?|to be decided|tbd|later)\b",
    re.IGNORECASE,
)
# What holds for all that comes, and is not done with once it was done.
_STANDING: Final = re.compile(
    r"\b(always|never|from now on|in (the )?future|no matter|under no circumstances|may not|"
    r"must(n['\u2019]t| not)|do(es)?( not|n['\u2019]t)|without|avoid|allerg\w+|prefer\w*)\b",
    re.IGNORECASE,
)
# A request in the form of a question: "Could you always answer in German?"
_WISH: Final = re.compile(
    r"^(please[, ]+)?(can|could|would|will) you\b.*\b(always|never|only|from now on|make sure|remember)\b",
    re.IGNORECASE | re.DOTALL,
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|no|vs|etc|approx|fig|sr|jr|e\.g|i\.e|z\.b|\w)|\d)\.$", re.IGNORECASE
)
_ABBREVIATION_CHARS: Final = 10  # the longest of them, and what stands before it
_BREAK: Final = re.compile(r"(?<=[.!?…])[\"'\u201d\u2019)\]]*\s+|\n+")


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text as they stand there, lines apart."""
    found: list[str] = []
    begin = 0
    for gap in _BREAK.finditer(text):
        last_word = text[max(begin, gap.start() - _ABBREVIATION_CHARS) : gap.start()]
        if "\n" not in gap.group() and _ABBREVIATION.search(last_word):
            continue
        found.append(text[begin : gap.end()])
        begin = gap.end()
    found.append(text[begin:])
    return tuple(sentence for part in found if (sentence := part.strip()))


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'\u201d\u2019)] ").endswith("?")


def binding_statements(text: str) -> tuple[str, ...]:
    """The sentences of a request that bind what comes after it."""
    return tuple(
        line_of(sentence)
        for sentence in sentences(text)
        if (_WISH.search(sentence) if is_question(sentence) else _BINDING.search(sentence))
    )


def is_standing(statement: str) -> bool:
    """Whether a binding statement holds for whatever is asked later, and not for one thing."""
    return _STANDING.search(statement) is not None


def last_question(text: str) -> str:
    """The question that an answer ends with; "" when it ends with none."""
    said = sentences(text)
    return line_of(said[-1]) if said and is_question(said[-1]) else ""


def line_of(text: str) -> str:
    """A text as one line; beyond MAX_LINE_CHARS it is cut, visibly."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 6].rstrip() + " [...]"


def without_repeats(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines, of those that say the same only the last."""
    by_words: dict[str, str] = {}
    for line in lines:
        words = spoken(line)
        by_words.pop(words, None)
        by_words[words] = line
    return tuple(by_words.values())


def spoken(line: str) -> str:
    """A line without what does not matter when it is compared: case, spaces, its end."""
    return " ".join(line.casefold().split()).rstrip(".!?… ")


def newest(lines: Sequence[str], max_chars: int) -> tuple[str, ...]:
    """The last lines that fit into so many characters."""
    total = 0
    for place in range(len(lines) - 1, -1, -1):
        total += len(lines[place]) + 1
        if total > max_chars:
            return tuple(lines[place + 1 :])
    return tuple(lines)
