"""Why what a model decided should be looked at once more, each found by its form alone.

Small models ask people for what is remembered, work on "this sentence" where there is none, remember or file what
they were told in passing, compute where there is nothing to compute, and say that here is a list and leave it out.
What is found here is only a reason to look again: the model may be right all the same.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.tools import ToolCall, ToolSpec
from aeond.domain.values import JsonObject
from aeond.orchestration.keeping import is_question
from aeond.orchestration.schema_parts import as_object, is_list

ASKING: Final = "request_user_input"
MAX_LISTED: Final = 12  # names that are told to the model; a longer list it may shorten
_WRITING: Final = "memory_write"
_FILING: Final = "write_file"
_LOOKS: Final = ("memory_search", "memory_read")
_WORD: Final = re.compile(r"\w+")
_QUESTION_WORDS: Final = {"what", "which", "who", "when", "where", "why", "how"}
_OWN: Final = re.compile(r"\b(my|our|mine|ours)\b", re.IGNORECASE)
# Besides what is the user's own: the user, what is remembered, files. No chat knows these, whatever a model says.
_OF_TOOLS: Final = re.compile(
    r"\b(I|we|about (me|us)|remember\w*|memori\w+|forget|keep|not(e|es|ed)|files?|folders?)\b|\w\.\w{1,4}\b",
    re.IGNORECASE,
)
_TEXTS: Final = (
    "(word|phrase|sentence|line|verse|paragraph|passage|text|article|story|poem|joke|riddle|letter|e-?mail|message|quote|"
    "saying|question|recipe|list|table|number|amount|figure|value|price|date|formula|equation|expression|function)s?"
)
_POINTING: Final = re.compile(rf"\b(this|these|the following)( \w+)? {_TEXTS}\b", re.IGNORECASE)
# Commands that say nothing without a second part, and by which words that part is told.
_TWO_PARTS: Final = (
    (r"(convert|exchange|translate)", r"(to|into|in|as|from)", "into what"),
    (r"(rename)", r"(to|as|into)", "to what"),
    (r"(multiply|divide)", r"(by|with|and|times|into|through)", "by what"),
    (r"(compare)", r"(and|with|to|against|all|these|both|two|files)", "with what"),
)
_REMEMBERING: Final = re.compile(
    r"\b(remember\w*|memori[sz]e|mind|note|forget|keep|save|store|record|write|from now on|under|as)\b",
    re.IGNORECASE,
)
# By which words a file may be wanted, besides its name.
_FILED: Final = re.compile(
    r"\b(files?|folders?|documents?|writ(e|ing)|save|store|put|create|make|copy|export|record|note|draft|prepare|append|add|"
    r"replace|change|fix|update|insert)\b|\w\.\w{1,4}\b",
    re.IGNORECASE,
)
# What brings a text along: quotes, a colon, a line break, the name of a file.
_BROUGHT: Final = re.compile("[:\n\"`\u2018\u201c\u201d\u201e\u00ab\u00bb]|(?<!\\w)'|\\w\\.\\w{1,4}\\b")
_NUMBER: Final = re.compile(r"\s*\d+([.,]\d+)?\s*")
_NUMBERS: Final = re.compile(r"\d+(?:[.,]\d+)*")
_LISTING: Final = re.compile(
    r"\b(list|enumerate|name) (all |me |up )*(the|all|every|my|our|its)\b", re.IGNORECASE
)
_RESULT: Final = "Result: "
_NAMES: Final = ("name", "path", "key")


def speaks_for_tools(request: str) -> bool:
    """Whether a request is about what only tools know or compute, or leaves something out; rather too often than
    too seldom."""
    about = _OWN.search(request) is not None or _OF_TOOLS.search(request) is not None
    several = len(_NUMBERS.findall(request)) > 1
    return about or several or bool(_not_brought(request) or _left_out(request))


def may_be_remembered(said: JsonObject, specs: Sequence[ToolSpec], told: Sequence[Message]) -> bool:
    """Whether a question about something of the user's own is asked back before the memory was looked into."""
    if said.get("tool") != ASKING or not any(spec.name == _LOOKS[0] for spec in specs):
        return False
    calls = "\n".join(str(message.content) for message in told if message.role is Role.AGENT)
    looked = any(f'"{name}"' in calls for name in _LOOKS)
    request = str(told[0].content)
    return not looked and is_question(request) and _OWN.search(request) is not None


def pointed_at(said: JsonObject, specs: Sequence[ToolSpec], told: Sequence[Message]) -> str:
    """What a request points at ("this sentence") that neither it nor its session holds, where the model can ask
    for it and does not."""
    return _not_brought(str(told[0].content)) if len(told) == 1 and _could_ask(said, specs) else ""


def left_open(said: JsonObject, specs: Sequence[ToolSpec], told: Sequence[Message]) -> str:
    """Which part of a command is left out ("Convert ten miles."), in words, where the model can ask for it and
    does not; "" when none is."""
    return _left_out(str(told[0].content)) if len(told) == 1 and _could_ask(said, specs) else ""


def _not_brought(request: str) -> str:
    """What a request points at and does not bring along; "" when it brings it or points at nothing."""
    pointing = _POINTING.search(request)
    return "" if pointing is None or _BROUGHT.search(request) else pointing.group()


def _left_out(request: str) -> str:
    """Which second part of a command is not told; "" when none is missing."""
    for verb, joint, part in _TWO_PARTS:
        if re.match(rf"(please )?{verb}\b", request, re.IGNORECASE):
            return "" if re.search(rf"\b{joint}\b", request, re.IGNORECASE) else part
    return ""


def handed_back(call: ToolCall, request: str) -> bool:
    """Whether the user is asked just what they asked, but for the question word: nobody else is to answer that."""
    return call.tool == ASKING and _asked(str(call.arguments.get("prompt"))) == _asked(request)


def _asked(question: str) -> frozenset[str]:
    return frozenset(_WORD.findall(question.casefold())) - _QUESTION_WORDS


def _could_ask(said: JsonObject, specs: Sequence[ToolSpec]) -> bool:
    return any(spec.name == ASKING for spec in specs) and said.get("tool") != ASKING


def remembers_unasked(said: JsonObject, told: Sequence[Message]) -> bool:
    """Whether what came of a call is to be remembered, though no word of the request is about that."""
    wanted = _REMEMBERING.search(str(told[0].content)) is not None
    return said.get("tool") == _WRITING and len(told) > 1 and not wanted


def files_unasked(said: JsonObject, told: Sequence[Message]) -> bool:
    """Whether what came of a call is to be written into a file, though no word of the request is about that."""
    wanted = _FILED.search(str(told[0].content)) is not None
    return said.get("tool") == _FILING and len(told) > 1 and not wanted


def computes_nothing(said: JsonObject) -> bool:
    """Whether a calculator is given a bare number: what would come out was put in."""
    expression = as_object(said.get("arguments")).get("expression")
    return isinstance(expression, str) and _NUMBER.fullmatch(expression) is not None


def unlisted(said: JsonObject, told: Sequence[Message]) -> tuple[str, ...]:
    """The names in the last result, where the request wants them listed and the answer leaves most of them out."""
    answer = said.get("answer")
    if not isinstance(answer, str) or _LISTING.search(str(told[0].content)) is None:
        return ()
    names = _names_in(str(told[-1].content))
    missing = [name for name in names if name not in answer]
    return names if len(names) <= MAX_LISTED and 2 * len(missing) > len(names) else ()


def _names_in(result: str) -> tuple[str, ...]:
    try:
        parts = as_object(json.loads(result.removeprefix(_RESULT)))
    except ValueError:  # told in words, or shortened
        return ()
    table = next((part for part in parts.values() if is_list(part) and part), [])
    if table and is_list(table[0]):  # the columns
        entries = [dict(zip(map(str, table[0]), row, strict=False)) for row in table[1:] if is_list(row)]
    else:
        entries = [dict(row) for row in table if isinstance(row, Mapping)]
    found = (entry[key] for entry in entries for key in _NAMES if key in entry)
    return tuple(dict.fromkeys(name for name in found if isinstance(name, str)))
