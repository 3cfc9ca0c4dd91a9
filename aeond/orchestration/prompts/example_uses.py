"""Example uses: requests as people type them, each with the first action that serves it.

The uses nearest to a request in meaning are shown beside it. They teach which kind of action a request wants, so
they cover many topics, wordings and languages, and none of their values is likely to be asked for. A use is shown
only where its tool is registered and accepts the arguments.
"""

from typing import Final

from aeond.domain.values import JsonObject
from aeond.frozen import frozen
from aeond.orchestration.decision.schema import ANSWER, CANNOT


@frozen
class ExampleUse:
    """A request, and the action that comes first for it."""

    request: str
    action: JsonObject


EXAMPLE_USES: Final[tuple[ExampleUse, ...]] = (
    ExampleUse("the alarm code changed to 5512", {"remember": {"key": "alarm code", "value": "5512"}}),
    ExampleUse(
        "I moved, my new address is Elm Street 4",
        {"remember": {"key": "address", "value": "Elm Street 4"}},
    ),
    ExampleUse(
        "don't forget that Paul is allergic to bees",
        {"remember": {"key": "Paul's allergy", "value": "bees"}},
    ),
    ExampleUse(
        "Merk dir, dass der Schlüssel bei Frau Voss liegt",
        {"remember": {"key": "key", "value": "with Frau Voss"}},
    ),
    ExampleUse("mi talla de camisa es ahora la 42", {"remember": {"key": "shirt size", "value": "42"}}),
    ExampleUse(
        "note pour plus tard : le code du garage est 3391",
        {"remember": {"key": "garage code", "value": "3391"}},
    ),
    ExampleUse(
        "zapamiętaj, że lekarz mamy to dr Lis", {"remember": {"key": "mum's doctor", "value": "dr Lis"}}
    ),
    ExampleUse("my salary goes up to 3100 from next month", {"remember": {"key": "salary", "value": "3100"}}),
    ExampleUse("you can forget the old locker number", {"forget": {"key": "locker number"}}),
    ExampleUse("what's my bike lock code again", {ANSWER: "Your bike lock code is 2468."}),
    ExampleUse("¿cuál es mi número de socio?", {ANSWER: "Tu número de socio es 118."}),
    ExampleUse("on which line did I mention the plumber", {"search_files": {"text": "plumber"}}),
    ExampleUse("the page with grandma's soup, where is it", {"search_files": {"text": "soup"}}),
    ExampleUse("which files say anything about Rome", {"search_files": {"text": "Rome"}}),
    ExampleUse("wo steht die Telefonnummer vom Zahnarzt", {"search_files": {"text": "Zahnarzt"}}),
    ExampleUse("dans quel fichier ai-je noté le prix du vélo", {"search_files": {"text": "vélo"}}),
    ExampleUse(
        "how long is the guarantee on the washing machine", {"read_file": {"path": "manuals/washer.md"}}
    ),
    ExampleUse("who in the team has not answered yet", {"read_file": {"path": "team.csv"}}),
    ExampleUse("a qué hora abre la biblioteca según mis notas", {"read_file": {"path": "notes/library.txt"}}),
    ExampleUse("was it Kim or Ana who ran further in May", {"read_file": {"path": "runs.csv"}}),
    ExampleUse("which of the two flats costs less per month", {"read_file": {"path": "flats.md"}}),
    ExampleUse("add up all the bills of spring", {"read_file": {"path": "bills.csv"}}),
    ExampleUse(
        "change the meeting in plan.md from 9 to 10",
        {"edit_file": {"path": "plan.md", "old": "9", "new": "10"}},
    ),
    ExampleUse("the price of the blue lamp is wrong, make it 35", {"search_files": {"text": "blue lamp"}}),
    ExampleUse(
        "streich Butter von der Einkaufsliste",
        {"edit_file": {"path": "shopping.txt", "old": "butter", "new": ""}},
    ),
    ExampleUse("mark the tax letter as done", {"search_files": {"text": "tax letter"}}),
    ExampleUse(
        "put eggs on the shopping list too", {"append_file": {"path": "shopping.txt", "text": "eggs"}}
    ),
    ExampleUse(
        "add a line to the diary: rain all day", {"append_file": {"path": "diary.md", "text": "rain all day"}}
    ),
    ExampleUse(
        "ajoute Lucie, 34 ans, à la liste des invités",
        {"append_file": {"path": "guests.csv", "text": "Lucie,34"}},
    ),
    ExampleUse(
        "make a file drinks.txt with tea, cocoa and juice, one per line",
        {"write_file": {"path": "drinks.txt", "content": "tea\ncocoa\njuice"}},
    ),
    ExampleUse(
        "two rhyming lines on snow, saved as snow.txt",
        {"write_file": {"path": "snow.txt", "content": "White and slow,\ndown comes the snow."}},
    ),
    ExampleUse("rename draft.md to final.md", {"move_file": {"path": "draft.md", "to": "final.md"}}),
    ExampleUse("get rid of the old backup list", {"delete_file": {"path": "old_backup.txt"}}),
    ExampleUse("everyone over 30 goes onto a new list adults.txt", {"read_file": {"path": "people.csv"}}),
    ExampleUse("18 boxes at 4.75 each and 12 off", {"calculator": {"expression": "18*4.75-12"}}),
    ExampleUse("what's 30 percent off 79.90", {"calculator": {"expression": "79.90*(1-30/100)"}}),
    ExampleUse(
        "Wie viele Tage sind es vom 3. Mai bis zum 1. August?",
        {"calculator": {"expression": "date(2026,8,1)-date(2026,5,3)"}},
    ),
    ExampleUse(
        "the train leaves 9:50 and takes 2 h 35, when am I there",
        {"calculator": {"expression": "time(9,50)+time(2,35)"}},
    ),
    ExampleUse(
        "how many tiles of 30 by 30 cm cover 4.5 square metres",
        {"calculator": {"expression": "ceil(4.5/(0.3*0.3))"}},
    ),
    ExampleUse("split 96.60 between 7 people", {"calculator": {"expression": "96.60/7"}}),
    ExampleUse("ile to jest 3/8 z 200", {"calculator": {"expression": "200*3/8"}}),
    ExampleUse(
        "what date is 6 weeks from 10 march", {"calculator": {"expression": "date(2026,3,10)+weeks(6)"}}
    ),
    ExampleUse("plural of ox?", {ANSWER: "The plural of ox is oxen."}),
    ExampleUse("is Lima in Peru or in Chile", {ANSWER: "Lima is in Peru."}),
    ExampleUse("how do you say thank you in Italian", {ANSWER: "Thank you is grazie in Italian."}),
    ExampleUse("is a bat a bird? my brother says so", {ANSWER: "No, a bat is a mammal."}),
    ExampleUse(
        "inflation, in plain words?",
        {ANSWER: "Inflation is a general rise of prices, so that money buys less."},
    ),
    ExampleUse("order two pizzas from Gino's", {CANNOT: "I cannot order anything."}),
    ExampleUse("ring my mother and tell her I'm late", {CANNOT: "I cannot make phone calls."}),
    ExampleUse("take a photo of the receipt", {CANNOT: "I cannot take photos."}),
    ExampleUse(
        "check online what the ferry costs today", {CANNOT: "I cannot look anything up on the internet."}
    ),
    ExampleUse("imprime la carta de la abuela", {CANNOT: "No puedo imprimir."}),
    ExampleUse("réserve une table pour ce soir", {CANNOT: "Je ne peux pas réserver de table."}),
    ExampleUse("play some jazz", {CANNOT: "I cannot play music."}),
)
