"""The conversation in which a small model writes what is to be remembered.

In the conversation of a decision it repeats facts that are in view, or keeps a name without what was said of it. It writes what was
remembered before what is to be remembered, so that what stays true is kept. ADR 0100 has the measurements.
"""

from typing import Final

from aeond.domain.tools import Composition, CompositionView, ToolContext
from aeond.domain.values import JsonObject
from aeond.schemas.parts import closed_object

MAX_TOKENS: Final = 250
_INSTRUCTIONS: Final = """\
You note down one thing for a person. Reply with a JSON object: key is a short name for it, was is what is remembered under this name \
so far, value is what to keep in mind from now on: every name and number of the request, and of what was, all that stays true. What \
corrects something that is remembered has its key."""
_SCHEMA: Final = closed_object(
    {
        "key": {"type": "string", "minLength": 1},
        "was": {"type": "string"},
        "value": {"type": "string", "minLength": 1},
    }
)
_FACTS: Final = (
    "Remembered: boat name = Ida; gate code = 7714; harbour office = open Monday to Friday, 8 to 12, Mrs Nowak; "
    "sailmaker = Otto, at the pier, 45 euros an hour; spare oar = in the shed"
)
_NOTED: Final = (
    ("by the way the gate code is 9021 now", "gate code", "7714", "9021"),
    (
        "retiens que le mât fait 9 mètres et la quille 2",
        "mât et quille",
        "",
        "le mât fait 9 mètres, la quille 2",
    ),
    (
        "Otto nimmt jetzt 50 Euro, sonst alles wie gehabt",
        "sailmaker",
        "Otto, at the pier, 45 euros an hour",
        "Otto, at the pier, 50 euros an hour",
    ),
    ("I get seasick in small boats, just so you know", "seasick", "", "in small boats"),
    (
        "the harbour office is open Tuesday to Saturday from May on, same hours",
        "harbour office",
        "open Monday to Friday, 8 to 12, Mrs Nowak",
        "open Tuesday to Saturday, 8 to 12, Mrs Nowak",
    ),
    (
        "Lena must not eat nuts and Omar cannot swim, keep that in mind",
        "Lena and Omar",
        "",
        "Lena must not eat nuts, Omar cannot swim",
    ),
    ("mi puesto es el 12 a partir del 3 de marzo, apúntalo", "puesto", "", "12 a partir del 3 de marzo"),
    (
        "the oar hangs in the cabin these days, what you know is wrong",
        "spare oar",
        "in the shed",
        "hangs in the cabin",
    ),
    (
        "zapamiętaj: pani Kowalska z portu ma numer 555 0142, tylko rano",
        "pani Kowalska z portu",
        "",
        "555 0142, tylko rano",
    ),
)


FACT: Final = Composition(
    ("key", "value"),
    _INSTRUCTIONS,
    tuple((_FACTS, request, {"key": key, "was": was, "value": value}) for request, key, was, value in _NOTED),
    max_tokens=MAX_TOKENS,
)


async def fact_view(_arguments: JsonObject, _context: ToolContext, _request: str) -> CompositionView:
    """Nothing: the remembered facts stand above the request."""
    return CompositionView("", _SCHEMA)
