"""The prompts with which a small model says which tool of another author does what a request wants, whether it does just that, and with
which arguments it is called."""

from collections.abc import Iterable
from typing import Final

from aeond.domain.messages import Message
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.tools import ToolSpec
from aeond.domain.values import JsonObject, compact_json, short_line
from aeond.orchestration.prompts.decision_prompts import (
    NO,
    YES,
    Question,
    conversation,
    facts_text,
    yes_or_no,
)
from aeond.schemas.parts import as_object, required_of

NONE: Final = "none"
_FITTING_RULES: Final = """\
A person writes to an assistant. Say which of the tools in view does what the person wants, by its name alone, or none: where no tool is \
for that, or something that it must know was not said."""
_OTHER_TOOLS: Final = {
    "lamp_set": "lamp_set(room, brightness): Sets the light of a room.",
    "tide_times": "tide_times(harbour, date): High and low water at a harbour on a day.",
    "invoice_create": "invoice_create(customer, amount, due?): Writes an invoice and numbers it.",
    "song_play": "song_play(title, artist?): Plays a song.",
    "letter_count": "letter_count(word, letter): How often a letter occurs in a word.",
    "berth_reserve": "berth_reserve(harbour, from, nights): Reserves a berth for a boat.",
    "knots_convert": "knots_convert(knots): Converts knots to kilometres an hour.",
    "ticket_close": "ticket_close(number): Closes a ticket of the support desk.",
}
_FITTING: Final = (
    (("lamp_set", "song_play"), "make it a bit darker in the kitchen, 20 percent or so", "lamp_set"),
    (("tide_times", "berth_reserve"), "what makes the tides come and go?", NONE),
    (("tide_times", "berth_reserve", "ticket_close"), "When is high water in Kiel tomorrow?", "tide_times"),
    (("song_play",), "who wrote La Mer", NONE),
    (("invoice_create", "ticket_close"), "Rechnung an Omar über 240 Euro", "invoice_create"),
    (("berth_reserve", "tide_times"), "how many boats lie in the harbour of Sopot?", NONE),
    (("letter_count", "knots_convert"), "cuántas erres hay en ferrocarril", "letter_count"),
    (("song_play", "lamp_set"), "put varnish on the to-do list", NONE),
    (
        ("berth_reserve", "song_play", "lamp_set"),
        "we need a place for the boat in Sopot from 3 May, two nights",
        "berth_reserve",
    ),
    (("letter_count",), "what does ferrocarril mean?", NONE),
    (("knots_convert", "tide_times"), "8 węzłów to ile km na godzinę?", "knots_convert"),
    (("lamp_set", "ticket_close"), "mach die Heizung im Bad an", NONE),
    (("ticket_close", "invoice_create"), "ticket 418 is done", "ticket_close"),
    (("knots_convert",), "how fast can a sailing boat be", NONE),
    (("song_play", "ticket_close"), "mets La Mer de Charles Trenet", "song_play"),
    (("invoice_create", "lamp_set"), "by the way the gate code is 9021 now", NONE),
)
_EXACT_RULES: Final = """\
A tool is at hand, and a person asks for something. Say yes if a call of the tool gives or does just what is asked for, no if it gives or \
does something else, or only something near to it."""
_EXACT: Final = (
    ("lamp_set", "make it a bit darker in the kitchen, 20 percent or so", YES),
    ("tide_times", "what makes the tides come and go?", NO),
    ("tide_times", "When is high water in Kiel tomorrow?", YES),
    ("song_play", "who wrote La Mer", NO),
    ("invoice_create", "Rechnung an Omar über 240 Euro", YES),
    ("berth_reserve", "how many boats lie in the harbour of Sopot?", NO),
    ("letter_count", "cuántas erres hay en ferrocarril", YES),
    ("lamp_set", "put varnish on the to-do list", NO),
    ("berth_reserve", "we need a place for the boat in Sopot from 3 May, two nights", YES),
    ("letter_count", "what does ferrocarril mean?", NO),
    ("knots_convert", "8 węzłów to ile km na godzinę?", YES),
    ("lamp_set", "mach die Heizung im Bad an", NO),
    ("ticket_close", "ticket 418 is done", YES),
    ("knots_convert", "how fast can a sailing boat be", NO),
    ("song_play", "mets La Mer de Charles Trenet", YES),
    ("invoice_create", "what does a good invoice look like?", NO),
)

_CODE_RULES: Final = """\
A person who has a folder with a program writes to an assistant. Say yes if the source code of the program is to be changed: an error in it \
repaired, a failing test made to pass, something added to it or written differently. Say no if nothing is to be changed, if only something is \
asked or run, or if other files are to be changed: notes, lists, tables, letters, settings."""
_CODE: Final = (
    ("the alarm goes off twice a day, once is meant. Please put that right.", YES),
    ("put varnish on the to-do list", NO),
    ("what does parse_tides return?", NO),
    ("Die Einheit Knoten fehlt noch im Umrechner, bau sie ein", YES),
    ("set the volume in player.ini to 40", NO),
    ("test_moon fails, why? make it work", YES),
    ("who wrote La Mer", NO),
    ("qué pruebas fallan", NO),
    ("la fonction trier oublie le dernier élément, corrige ça et dis-moi pourquoi", YES),
    ("commit that as 'tides'", NO),
    ("let the log have timestamps", YES),
    ("by the way the gate code is 9021 now", NO),
    ("wytłumacz, co robi plik ports.py", NO),
    ("zrób z tego klasę", YES),
)

MAX_DESCRIPTION_CHARS: Final = 400
_ARGUMENTS_RULES: Final = """\
Write the arguments of the tool's calls as a JSON list, from what a person asks for: an object for each call that is needed, mostly \
one. Take over names, numbers and texts as the person wrote them, unless an argument wants another form. Leave out what may be left \
out and was not asked for."""
_NOW: Final = "Monday 2026-04-27 10:00"
_LAMP: Final = """\
lamp_set: Sets the light of a room.
- room (text)
- brightness (whole number): percent, 0 to 100
- colour? (text)"""
_TIDES: Final = """\
tide_times: High and low water at a harbour on a day.
- harbour (text)
- date (text): as YYYY-MM-DD"""
_INVOICE: Final = """\
invoice_create: Writes an invoice and numbers it.
- customer (text)
- amount (number): in euros
- due_days? (whole number): days until it is to be paid, 14 if not given"""
_LETTERS: Final = """\
letter_count: How often a letter occurs in a word.
- word (text)
- letter (text): one letter"""
_BERTH: Final = """\
berth_reserve: Reserves a berth for a boat.
- harbour (text): city and country, such as Kiel, Germany
- from (text): as YYYY-MM-DD
- nights (whole number)
- power? (true or false): with a power supply"""
_KNOTS: Final = "knots_convert: Converts knots to kilometres an hour.\n- knots (number)"
_TICKET: Final = """\
ticket_close: Closes a ticket of the support desk.
- number (whole number)
- reasons? (list)"""
_SONG: Final = "song_play: Plays a song.\n- title (text)\n- artist? (text)"
_ARGUMENTS: Final[tuple[tuple[str, str, tuple[JsonObject, ...]], ...]] = (
    (
        _LAMP,
        "make it a bit darker in the kitchen, 20 percent or so",
        ({"room": "kitchen", "brightness": 20},),
    ),
    (_TIDES, "When is high water in Kiel tomorrow?", ({"harbour": "Kiel", "date": "2026-04-28"},)),
    (_INVOICE, "Rechnung an Omar über 240 Euro", ({"customer": "Omar", "amount": 240},)),
    (_LETTERS, "cuántas erres hay en ferrocarril", ({"word": "ferrocarril", "letter": "r"},)),
    (
        _BERTH,
        "we need a place for the boat in Sopot from 3 May, two nights, power would be nice",
        ({"harbour": "Sopot, Poland", "from": "2026-05-03", "nights": 2, "power": True},),
    ),
    (_KNOTS, "8 węzłów to ile km na godzinę, a 12.5?", ({"knots": 8}, {"knots": 12.5})),
    (_TICKET, "ticket 418 is done", ({"number": 418},)),
    (_SONG, "mets La Mer de Charles Trenet", ({"title": "La Mer", "artist": "Charles Trenet"},)),
    (
        _TIDES,
        "low water on the second of may, in Lerwick and in Oban please",
        ({"harbour": "Lerwick", "date": "2026-05-02"}, {"harbour": "Oban", "date": "2026-05-02"}),
    ),
)
_TYPES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
}


def fitting_messages(request: str, tools: Iterable[str]) -> tuple[Message, ...]:
    """Asks for the name of the tool that does what the request wants; a tool is a line with its form and what it does."""
    shots = (
        (_with_tools(said, [_OTHER_TOOLS[name] for name in names]), fitting)
        for names, said, fitting in _FITTING
    )
    return conversation(_FITTING_RULES, shots, _with_tools(request, tools))


def _with_tools(request: str, tools: Iterable[str]) -> str:
    return "\n".join(["Tools:", *tools, f"Request: {request}"])


EXACT: Final = Question(
    _EXACT_RULES,
    "Tool: {}\nAsked for: {}",
    [(_OTHER_TOOLS[name], said, word) for name, said, word in _EXACT],
    yes_or_no,
)
"""Asks whether a tool does just what a request wants, by the tool as a line and the request: YES or NO."""


CODE: Final = Question(_CODE_RULES, "{}", _CODE, yes_or_no)
"""Asks whether a request wants source code changed: YES or NO."""


def arguments_messages(spec: ToolSpec, run: RunSnapshot, situation: Situation) -> tuple[Message, ...]:
    """Asks for the arguments of all calls of the tool that the request needs, as a list of objects."""
    shots = (
        (f"{form}\nNow: {_NOW}\nRequest: {said}", compact_json(calls)) for form, said, calls in _ARGUMENTS
    )
    parts = [
        _arguments_form(spec),
        f"Said before:\n{run.context}" if run.context else "",
        facts_text(situation) if situation.facts else "",
        f"Now: {situation.time}" if situation.time else "",
        f"Request: {run.text}",
    ]
    return conversation(_ARGUMENTS_RULES, shots, "\n".join(part for part in parts if part))


def _arguments_form(spec: ToolSpec) -> str:
    """The tool and a line for each argument: its name, with a question mark if it may be left out, its type and what it is."""
    needed = required_of(spec.input_schema)
    lines = [f"{spec.name}: {short_line(spec.description, MAX_DESCRIPTION_CHARS)}"]
    for name, part in as_object(spec.input_schema.get("properties")).items():
        schema = as_object(part)
        kind = _TYPES.get(str(schema.get("type")), "any value")
        words = short_line(str(schema.get("description", "")), MAX_DESCRIPTION_CHARS)
        line = f"- {name}{'' if name in needed else '?'} ({kind})"
        lines.append(f"{line}: {words}" if words else line)
    return "\n".join(lines)
