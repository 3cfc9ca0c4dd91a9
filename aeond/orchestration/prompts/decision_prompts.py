"""The text around one decision: the rules, the tools, the situation of a request, results and remarks; and the form of questions that
are answered with one word.

The stable text comes first (rules, tools, examples), then the situation, then the request: an engine reads only
what differs from the prompt before.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import Composition, ToolSpec
from aeond.domain.values import JsonObject, compact_json, display_json, short_line
from aeond.frozen import frozen
from aeond.schemas.parts import as_object, required_of

_ROLE: Final = (
    "You are aeond, the assistant on a person's computer. You work with tools in the person's folder. You see the "
    "files, with how each begins, and the facts that are remembered."
)
USUAL_LIMITS: Final = " (calls, mail, orders, the internet, pictures, sound, printing)"
_LIMITS: Final = (
    f"Remembered facts stand in no file. Answer general knowledge yourself. What no tool does{USUAL_LIMITS} "
    "cannot be done: say so. Change only what was asked, and claim only what a result shows."
)
CANNOT_USE: Final = "says what cannot be done"
PLAN_USE: Final = "only for a long task of many parts"
CONSTRAINED_RULES: Final = f"""\
{_ROLE}
Reply with the next action as one JSON object. After its result choose the next action. When all that was asked is \
done, answer in the person's language.
{_LIMITS}
{{"answer":TEXT}} tells the result, or what you know yourself
{{"cannot":TEXT}} {CANNOT_USE}
{{"plan":true}} {PLAN_USE}"""
OPEN_RULES: Final = CONSTRAINED_RULES.replace(USUAL_LIMITS, "")
"""The same for tools of which it is not known what they cannot do."""

NATIVE_RULES: Final = f"""\
{_ROLE}
Make one call, look at its result, then decide what is next. When all that was asked is done, answer in the person's \
language. {_LIMITS}"""

REPEATED: Final = (
    "That action was already taken: its result stands above. Take a different action, or answer."
)
FOUND: Final = "Found: "
MAX_FACT_CHARS: Final = 120
MAX_FORM_CHARS: Final = 160
YES: Final = "yes"
NO: Final = "no"
PART: Final = "part"
WHOLE: Final = "whole"

_REMOVAL_RULES: Final = """\
A person wants something removed. Say in one word what: whole (the whole file), part (something that stands in the file, and the \
file stays)."""
_REMOVALS: Final = (
    ("club/members.csv: name,fee,paid", "Till has left the club, take him out", PART),
    ("engine.log: 2026-02-01 08:10 start", "I don't need the engine log any more", WHOLE),
    ("todo.txt: paint", "das Seil ist gekauft, kann von der Liste", PART),
    ("club/rules_old.md: # Rules of the club", "jette les anciennes règles du club", WHOLE),
    ('harbour.json: { "berth": 12,', "borra el número de amarre", PART),
    ("todo.txt: paint", "all of it is done, todo.txt can go", WHOLE),
    ("club/rules.md: # Rules of the club", "Regel 3 gilt nicht mehr", PART),
    ("drafts/invitation.txt: Dear members,", "Wyrzuć to stare zaproszenie", WHOLE),
)


def tools_text(specs: Sequence[ToolSpec], shown: Collection[str] = ()) -> str:
    """One line for each tool: its form, and what it does. A tool whose form the examples show is described with
    its required arguments alone."""
    return "\n".join(_tool(spec, brief=spec.name in shown) for spec in specs)


def tool_form(spec: ToolSpec) -> str:
    """One line for a tool: its name, its arguments, those that may be left out with a question mark, and the first sentence about it."""
    needed = required_of(spec.input_schema)
    properties = as_object(spec.input_schema.get("properties"))
    arguments = (name if name in needed else f"{name}?" for name in properties)
    sentence = short_line(spec.description.partition(". ")[0], MAX_FORM_CHARS)
    return f"{spec.name}({', '.join(arguments)}): {sentence}"


def request_text(run: RunSnapshot, situation: Situation) -> str:
    """The request with its situation: what changes least comes first."""
    parts = [situation_text(situation)]
    if situation.lines:
        found = "\n".join(f"{place}: {text}" for place, text in situation.lines)
        parts.append(f"Lines in files that share words with the request:\n{found}")
    if run.context:
        parts.append(f"Said before:\n{run.context}")
    parts.append(f"Now: {situation.time}" if situation.time else "")
    parts.append(f"Request: {run.text}")
    return "\n".join(part for part in parts if part)


def situation_text(situation: Situation) -> str:
    """Names and facts in view. They are data of the person's, and marked as such by their labels."""
    lines = []
    if situation.files:
        lines.append("Files, and how each begins:")
        lines += [f"{path}: {first}" if first else path for path, first in situation.files]
        if situation.more_files:
            lines.append("and more files")
        lines += extremes(situation)
    if facts := facts_text(situation):
        lines.append(facts)
    return "\n".join(lines)


def extremes(situation: Situation) -> Sequence[str]:
    """Names the newest and the largest file where all files are in view."""
    if not situation.shows_all_files or len(situation.files) == 1 or not situation.newest:
        return ()
    return (f"Newest, changed last: {situation.newest}; largest: {situation.largest}",)


def facts_text(situation: Situation) -> str:
    """The remembered facts in view; "" where none are and nothing is known of it."""
    if situation.facts:
        facts = "; ".join(
            f"{name} = {short_line(display_json(value), MAX_FACT_CHARS)}" for name, value in situation.facts
        )
        return f"Remembered: {facts}{'; and more' if situation.more_facts else ''}"
    return "Remembered: nothing yet" if situation.memory_seen and not situation.more_facts else ""


def result_text(result: str) -> str:
    return f"Result: {result}"


def composing_messages(
    composition: Composition,
    view: str,
    run: RunSnapshot,
    situation: Situation,
    results: Sequence[tuple[str, str]],
) -> tuple[Message, ...]:
    """The conversation in which an argument is written: what was said before, what is remembered and earlier results (a tool and
    its text), then the view with the request below it. Between these two a small model takes facts for a part of the view."""
    parts = [
        f"Said before:\n{run.context}" if run.context else "",
        facts_text(situation) if situation.facts and composition.facts else "",
        *(f"{tool}: {result}" for tool, result in results),
        view,
        f"Request: {run.text}",
    ]
    asked = Message(Role.USER, "\n\n".join(part for part in parts if part))
    return (*composing_opening(composition), asked)


def composing_opening(composition: Composition) -> tuple[Message, ...]:
    """The part of that conversation that is the same for every call."""
    messages = [Message(Role.SYSTEM, composition.instructions)]
    for view, request, value in composition.examples:
        messages.append(Message(Role.USER, f"{view}\n\nRequest: {request}"))
        messages.append(Message(Role.AGENT, compact_json(value)))
    return tuple(messages)


def conversation(rules: str, examples: Iterable[tuple[str, str]], asked: str) -> tuple[Message, ...]:
    """A conversation of its own: the rules, worked examples of what is asked with the answers, and what is asked now."""
    shots = [
        message
        for question, answer in examples
        for message in (Message(Role.USER, question), Message(Role.AGENT, answer))
    ]
    return (Message(Role.SYSTEM, rules), *shots, Message(Role.USER, asked))


def _tool(spec: ToolSpec, *, brief: bool) -> str:
    names = required_of(spec.input_schema)
    arguments = ",".join(
        f'"{name}"' if brief else f'"{name}"{"" if name in names else "?"}{_hint(as_object(part))}'
        for name, part in as_object(spec.input_schema.get("properties")).items()
        if name in names or not brief
    )
    return f'{{"{spec.name}":{{{arguments}}}}} {spec.description}'


def _hint(part: JsonObject) -> str:
    """What an argument holds, where its name does not say it."""
    description = part.get("description")
    return f":{description}" if isinstance(description, str) and description else ""


def request_line(wording: str) -> str:
    return f"Request: {wording}"


@frozen
class Question:
    """A question that a model answers with one word.

    `frame` has a place for each part of what is asked about. An example holds these parts and then the word. `read` returns the word that
    the beginning of an answer stands for, "" if it stands for none.
    """

    rules: str
    frame: str
    examples: Sequence[Sequence[str]]
    read: Callable[[str], str]

    def messages(self, *parts: str) -> tuple[Message, ...]:
        """Asks about these parts. All messages but the last are the same for all parts."""
        shots = ((self.frame.format(*seen), word) for *seen, word in self.examples)
        return conversation(self.rules, shots, self.frame.format(*parts))

    @property
    def opening(self) -> tuple[Message, ...]:
        """The messages that are the same for all parts."""
        return self.messages(*self.examples[0][:-1])[:-1]


def begun(*words: str) -> Callable[[str], str]:
    """Reads the first of the words that an answer begins with at least two letters."""
    return lambda start: next((word for word in words if len(start) > 1 and word.startswith(start)), "")


def whole(*words: str) -> Callable[[str], str]:
    """Reads one of the words, written as here."""
    return lambda word: word if word in words else ""


def yes_or_no(word: str) -> str:
    """Reads YES or NO, in capital letters or small ones."""
    return whole(YES, NO)(word.casefold())


REMOVAL: Final = Question(_REMOVAL_RULES, "{}\nRequest: {}", _REMOVALS, whole(PART, WHOLE))
"""Asks what is to be removed of the file in a view, by the view and the request: PART or WHOLE."""
