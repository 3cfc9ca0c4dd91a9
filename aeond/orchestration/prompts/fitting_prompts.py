"""The prompts with which a small model says which tool of another author does what a request wants, and whether it does just that."""

from collections.abc import Iterable
from typing import Final

from aeond.domain.messages import Message
from aeond.orchestration.prompts.decision_prompts import conversation

NONE: Final = "none"
YES: Final = "yes"
NO: Final = "no"
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


def fitting_messages(request: str, tools: Iterable[str]) -> tuple[Message, ...]:
    """Asks for the name of the tool that does what the request wants; a tool is a line with its form and what it does."""
    shots = (
        (_with_tools(said, [_OTHER_TOOLS[name] for name in names]), fitting)
        for names, said, fitting in _FITTING
    )
    return conversation(_FITTING_RULES, shots, _with_tools(request, tools))


def _with_tools(request: str, tools: Iterable[str]) -> str:
    return "\n".join(["Tools:", *tools, f"Request: {request}"])


def exact_messages(request: str, tool: str) -> tuple[Message, ...]:
    """Asks whether the tool in this line does just what the request wants; the reply is one word."""
    shots = ((_with_tool(said, _OTHER_TOOLS[name]), word) for name, said, word in _EXACT)
    return conversation(_EXACT_RULES, shots, _with_tool(request, tool))


def _with_tool(request: str, tool: str) -> str:
    return f"Tool: {tool}\nAsked for: {request}"
