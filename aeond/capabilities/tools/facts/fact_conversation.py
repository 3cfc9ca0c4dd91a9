"""The conversation in which a small model writes what is to be remembered.

In the conversation of a decision it repeats facts that are in view, or keeps a name without what was said of it. It writes what was
remembered before what is to be remembered, so that what stays true is kept. ADR 0100 has the measurements.
"""

from typing import Final

from aeond.domain.facts import Fact
from aeond.domain.tools import Composition, CompositionView
from aeond.domain.values import JsonObject, display_json
from aeond.schemas.parts import closed_object

MAX_TOKENS: Final = 250
_INSTRUCTIONS: Final = """\
You note down one thing for a person. Reply with a JSON object: key is a short name for it, was is what is remembered under this name \
so far, value is what to keep in mind from now on: every name and number of the request, and of what was, all that stays true. What \
corrects something that is remembered has its key."""
_FACTS: Final = (
    "Remembered: boat name = Ida; gate code = 7714; harbour office = open Monday to Friday, 8 to 12, Mrs Nowak; "
    "no nuts = Lena; sailmaker = Otto, at the pier, 45 euros an hour; spare oar = in the shed; watch = Lena at 6:00, Omar at 22:00"
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
    (
        "Omar takes over at half past ten at night, hers stays",
        "watch",
        "Lena at 6:00, Omar at 22:00",
        "Lena at 6:00, Omar at 22:30",
    ),
    ("I get seasick in small boats, just so you know", "seasick", "", "in small boats"),
    (
        "the harbour office is open Tuesday to Saturday from May on, same hours",
        "harbour office",
        "open Monday to Friday, 8 to 12, Mrs Nowak",
        "open Tuesday to Saturday, 8 to 12, Mrs Nowak",
    ),
    (
        "Lena is afraid of thunder and Omar cannot swim, keep that in mind",
        "Lena and Omar",
        "",
        "Lena is afraid of thunder, Omar cannot swim",
    ),
    ("Ewa ne mange pas de noix non plus", "no nuts", "Lena", "Lena, Ewa"),
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
    fact="key",
)


def fact_view(corrected: Fact | None) -> CompositionView:
    """Nothing: the remembered facts stand above the request. With the name and the value of a fact that is corrected only the new value is open."""
    key: JsonObject = {"type": "string", "minLength": 1}
    was: JsonObject = {"type": "string"}
    if corrected is not None:
        key, was = {"enum": [corrected.key]}, {"enum": [display_json(corrected.value)]}
    return CompositionView(
        "", closed_object({"key": key, "was": was, "value": {"type": "string", "minLength": 1}})
    )
