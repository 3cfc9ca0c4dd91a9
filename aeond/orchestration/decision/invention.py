"""Detects what a small model makes up, loses or mistakes: numbers of a fact or a calculation that stand nowhere, those that a request names, facts that
repeat their names, and files that are filled with what was not said, or what only the examples of the prompt say,
and facts that are not what is to be removed."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

from aeond.domain.names import same_form, words_of, words_to_match
from aeond.domain.policy import Effect
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import display_json
from aeond.orchestration.answer.equations import numbers_in
from aeond.orchestration.context.statements import gives_operands
from aeond.orchestration.decision.interfaces import Turn

_NUMBER: Final = re.compile(r"\d+(?:[.,:/ -]\d+)*")
_PART: Final = re.compile(r"\d+")
_DATE: Final = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_YEAR: Final = re.compile(r"\b\d{4}\b")
_WORD: Final = re.compile(r"\w+")
_DIGITS: Final = re.compile(r"\D+")
_WORD_CHARS: Final = 4  # of a word that says something


def is_invented(
    call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation, turns: Iterable[Turn]
) -> bool:
    """Whether the call would keep a number in memory that stands neither in the request, nor in its conversation, a result or the fact
    that it corrects, or a fact that only repeats its name, or a request without any number; or whether it would make something new before
    any look, of one line with such a number: an address, not a recipe.

    A date of this year or the next may have been computed from what was said, such as a weekday.
    """
    if spec.for_existing:
        may_be_result = list(turns) or gives_operands(run.text)
        return not (may_be_result or "\n" in _content(call)) and _has_new_number(call, run, situation)
    if spec.effect is not Effect.MEMORY:
        return False
    written = [_words(display_json(value)) for value in call.arguments.values()]
    repeated = written[:1] if any(map(str.isdigit, run.text)) else [*written[:1], _words(run.text)]
    if len(written) > 1 and set[str]().union(*written[1:]) in repeated:
        return True
    kept = " ".join(map(display_json, call.arguments.values()))
    named = [display_json(value) for value in call.arguments.values()]
    corrected = [
        display_json(value) for name, value in situation.facts if any(same_form(name, one) for one in named)
    ]
    results = [turn.result for turn in turns]
    said = _digits(" ".join([run.request.text, run.text, run.context, *corrected, *results]))
    near = set(_years(situation.time))
    dates = [found for found in _DATE.findall(kept) if not near or _year_of(found) in near]
    for found in dates:
        kept = kept.replace(found, " ")
    return any(_digits(number) not in said for number in _NUMBER.findall(kept))


def computes_other(call: ToolCall, run: RunSnapshot, situation: Situation) -> bool:
    """Whether the call has numbers, but none of those that the request has, nor one of its conversation or a fact."""
    written = numbers_in(_content(call))
    facts = " ".join(display_json(value) for _, value in situation.facts)
    asked = bool(numbers_in(run.text))
    return asked and bool(written) and written.isdisjoint(numbers_in(f"{run.text} {run.context} {facts}"))


def is_unsaid(call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation) -> bool:
    """Whether the call would make something new, mostly of words, or with a number, that neither the request, nor its conversation or a
    fact has; or only of signs, or of one line again and again, as of a list whose items are not known."""
    if not spec.for_existing:
        return False
    text = call.arguments.get(spec.new_text)
    lines = [line for line in text.splitlines() if line.strip()] if isinstance(text, str) else []
    only_signs = bool(lines) and not any(map(str.isalnum, "".join(lines)))
    if only_signs or len(lines) > len(set(lines)) == 1:
        return True
    written = [word for word in words_of(_content(call)) if word.isdigit() or len(word) >= _WORD_CHARS]
    said = _said(run, situation)
    new = [word for word in written if word not in said]
    return any(word.isdigit() for word in new) or 2 * len(new) > len(written)


def is_copied(call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation, examples: str) -> bool:
    """Whether the call would make something new from these examples. Only lines with an unsaid word and an unsaid number count, and most of
    them have nothing unsaid that the examples lack: "Omar: 95 euros"."""
    if not spec.for_existing:
        return False
    said, shown = _said(run, situation), frozenset(words_of(examples))
    text = call.arguments.get(spec.new_text)
    lines = [frozenset(words_of(line)) - said for line in text.splitlines()] if isinstance(text, str) else []
    unsaid = [line for line in lines if any(map(str.isdigit, line)) and not all(map(str.isdigit, line))]
    return 2 * sum(line <= shown for line in unsaid) > len(unsaid)


def glimpsed_in(call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation) -> str:
    """The file of which the call would make something new from no more than the lines that are in view: everything unsaid in it stands
    there. "" if there is none."""
    text = call.arguments.get(spec.new_text)
    if not spec.for_existing or not isinstance(text, str):
        return ""
    said = _said(run, situation)
    new = {
        word for word in words_of(text) if word not in said and (word.isdigit() or len(word) >= _WORD_CHARS)
    }
    lines: dict[str, set[str]] = {}
    for path, line in (*situation.files, *situation.lines):
        lines.setdefault(path, set()).update(words_of(f"{path} {line}"))
    return next((path for path, words in lines.items() if new and new <= words), "")


def loses_numbers(kept: str, request: str) -> bool:
    """Whether the request names numbers of several digits, and none of them is kept."""
    said = {part for part in _PART.findall(request) if len(part) > 1}
    return bool(said) and said.isdisjoint(_PART.findall(kept))


def has_news(call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation) -> bool:
    """Whether the call would remove a fact, and the request names a number of several digits that the fact does not hold: it has
    changed, and is to be corrected."""
    if spec.effect is not Effect.MEMORY or not spec.only_existing:
        return False
    named = [display_json(value) for value in call.arguments.values()]
    removed = " ".join(
        f"{name} {display_json(value)}"
        for name, value in situation.facts
        if any(same_form(name, one) for one in named)
    )
    said = _PART.findall(run.request.text)
    return bool(removed) and any(len(part) > 1 and part not in _PART.findall(removed) for part in said)


def removes_other(call: ToolCall, spec: ToolSpec, run: RunSnapshot, situation: Situation) -> bool:
    """Whether the call would remove a fact that has no word of the request, where a file has one in its name: it is to be removed from there.
    Without such a file the request may be in another language than the fact."""
    if spec.effect is not Effect.MEMORY or not spec.only_existing:
        return False
    said = _long_words(f"{run.request.text} {run.text}")
    named = [display_json(value) for value in call.arguments.values()]
    facts = [
        _long_words(f"{name} {display_json(value)}")
        for name, value in situation.facts
        if any(same_form(name, one) for one in named)
    ]
    names = [_long_words(path.rpartition("/")[2].rpartition(".")[0]) for path, _ in situation.files]
    return bool(facts) and all(map(said.isdisjoint, facts)) and not all(map(said.isdisjoint, names))


def _long_words(text: str) -> frozenset[str]:
    return frozenset(word for word in words_to_match(text) if len(word) >= _WORD_CHARS)


def _content(call: ToolCall) -> str:
    """The texts that the call would write, with the name of what it makes."""
    return " ".join(value.strip() for value in call.arguments.values() if isinstance(value, str))


def _said(run: RunSnapshot, situation: Situation) -> frozenset[str]:
    facts = " ".join(f"{name} {display_json(value)}" for name, value in situation.facts)
    request = f"{run.request.text} {run.request.instructions} {run.text}"
    return frozenset(words_of(f"{request} {run.context} {facts} {situation.time}"))


def _has_new_number(call: ToolCall, run: RunSnapshot, situation: Situation) -> bool:
    said = _said(run, situation)
    return any(word.isdigit() and word not in said for word in words_of(_content(call)))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _year_of(text: str) -> int:
    """The year of a date in ISO form; 0 if there is no such date."""
    try:
        return date.fromisoformat(text).year
    except ValueError:
        return 0


def _years(time: str) -> Iterable[int]:
    for year in _YEAR.findall(time):
        yield from (int(year), int(year) + 1)


def _digits(text: str) -> str:
    return _DIGITS.sub("", text)
