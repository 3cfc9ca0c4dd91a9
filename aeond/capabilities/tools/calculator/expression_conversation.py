"""The conversation in which a small model writes an expression.

In the conversation of a decision it leaves out numbers of the request, or computes times as numbers. ADR 0095 has the
measurements.
"""

from datetime import datetime
from typing import Final

from aeond.capabilities.tools.calculator.values import shown
from aeond.domain.tools import Composition, CompositionView
from aeond.domain.values import JsonObject

MAX_TOKENS: Final = 150
_INSTRUCTIONS: Final = """\
You write one expression for a calculator that finds the number, length of time, time of day or date a person asks for. Reply \
with it as a JSON string. Times and dates are computed as such: time(9,50), date(2026,3,10), 3 days, 25 minutes, weekday(...), \
today. ceil(...) and floor(...) round up and down."""
_SCHEMA: Final[JsonObject] = {"type": "string", "minLength": 1}
_NOW: Final = datetime(2026, 3, 6, 10, 15)  # noqa: DTZ001 - local time, as people write dates
_REQUESTS: Final = (
    ("What is 12 % of 340 euros?", "340*12/100"),
    ("five tins of varnish at 14.90 each and the dealer takes 8 euros off", "5*14.90-8"),
    (
        "der Motor braucht 3,4 Liter in der Stunde, Diesel kostet 1,62. Was kosten 11 Stunden?",
        "3.4*11*1.62",
    ),
    ("how many days from 20 april to 3 june", "date(2026,6,3)-date(2026,4,20)"),
    (
        "si salimos a las 22:10 y la travesía dura 195 minutos, ¿a qué hora llegamos?",
        "time(22,10)+195 minutes",
    ),
    (
        "we were out for 9 hours 20 minutes and lay still 4 times for 15 minutes, how long did we sail?",
        "9 hours+20 minutes-4*15 minutes",
    ),
    ("quel jour de la semaine sera-t-on 45 jours après le 2 mai ?", "weekday(date(2026,5,2)+45 days)"),
    (
        "I need 14 boards of 62 cm, a plank has 3 m and each cut takes 4 mm. How many planks?",
        "ceil(14/floor((300+0.4)/(62+0.4)))",
    ),
    (
        "30 km at 6 km an hour, then 20 minutes for each of 3 locks. how long is that",
        "30/6*1 hour+3*20 minutes",
    ),
    (
        "Ile zapłacę: 240 euro netto, 7 % podatku, a od całości 3 % rabatu?",
        "240*(1+7/100)*(1-3/100)",
    ),
    ("2.150 Euro Hafengeld geteilt durch 6 Boote", "2150/6"),
    ("How much does 2.5 % of 1800 litres make? Then put it into the log as a surplus.", "1800*2.5/100"),
    ("bought the mast for 80, selling it for 100. profit in percent?", "(100-80)/80*100"),
)


def expression_view(now: datetime) -> CompositionView:
    """The time: dates of a request without a year belong to the year of `now`."""
    return CompositionView(_view(now), _SCHEMA)


def _view(now: datetime) -> str:
    return f"Now: {shown(now)}"


EXPRESSION: Final = Composition(
    ("expression",),
    _INSTRUCTIONS,
    tuple((_view(_NOW), request, expression) for request, expression in _REQUESTS),
    max_tokens=MAX_TOKENS,
)
