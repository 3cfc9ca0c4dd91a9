"""The prompts with which a small model says whether it knows an answer, and answers from what it knows or was shown."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.orchestration.prompts.decision_prompts import Question, conversation, facts_text, request_line

UNKNOWN: Final = "?"
KNOWN: Final = "known"
_KNOWN_RULES: Final = f"""\
You answer questions from general knowledge alone, in as few words as possible. Reply with {UNKNOWN} if the answer depends on the \
person's own life, notes, files, plans or people, or on what happens now."""
_KNOWN: Final = (
    ("Capital of Peru?", "Lima"),
    ("When does my passport expire?", UNKNOWN),
    ("Welche Farbe hat Chlorophyll?", "grün"),
    ("who has the key to the shed?", UNKNOWN),
    ("¿Cómo se dice 'gracias' en italiano?", "grazie"),
    ("what did we pay for the tent, it was on the receipt", UNKNOWN),
    ("Ile gramów ma funt?", "453,6"),
    ("which of the two routes is shorter?", UNKNOWN),
    ("who wrote Faust? need it for a crossword", "Goethe"),
    ("Ist morgen Training?", UNKNOWN),
    ("plural of ox, for my essay", "oxen"),
    ("¿cuánto queda en la caja?", UNKNOWN),
)
NOT_SHOWN: Final = "?"
FILES_IN_VIEW: Final = "files"
CHANGED: Final = "changed for this request"
_RESULTS_RULES: Final = f"""\
You answer a person's request from what is shown above it. Answer in one or two short sentences, in the language of the request, with \
every number and name that was asked for. Write out each calculation with its numbers. If it is not shown, answer only: {NOT_SHOWN}"""
_RULES: Final = """\
club/rules.md:
# Rules of the club

1. No noise after ten.
2. A guest pays 3 euros a day.
3. The slip is closed on Mondays.
4. Keys are with Omar."""
_BOAT: Final = "boat.txt:\nIda, built 1988\nlength 6.4 m\nred sails"
_MEMBERS: Final = (
    "club/members.csv:\nname,fee,paid,since\nLena,120,yes,2019\nOmar,95,no,2012\nTill,120,no,2015"
)
_LOG: Final = """\
boat/engine.log:
2026-02-01 08:10 start
2026-02-01 08:14 pressure low, 1.8 bar
2026-02-01 09:40 stop
2026-02-03 10:02 start
2026-02-03 12:30 stop"""
_COSTS: Final = """\
boat/costs.json:
[
  {"what": "paint", "month": "march", "euros": 48.5},
  {"what": "rope", "month": "march", "euros": 22},
  {"what": "lamp", "month": "april", "euros": 61.9}
]"""
_ANSWERED: Final = (
    (_RULES, "Wann ist die Slipanlage zu?", "Sie ist montags geschlossen."),
    (_BOAT, "what does a new mast cost", NOT_SHOWN),
    (
        _MEMBERS,
        "Who pays more, Lena or Omar? And by how many euros?",
        "Lena pays more: 120 - 95 = 25 euros more.",
    ),
    (_LOG, "la pression était basse à quelle heure ?", "À 8 h 14, le 1er février : 1,8 bar."),
    (_MEMBERS, "¿qué profundidad tiene el puerto?", NOT_SHOWN),
    (
        _COSTS,
        "did the boat cost more in march or in april",
        "In March: 48.5 + 22 = 70.5 euros, in April 61.9.",
    ),
    (_RULES, "in welcher Datei steht das mit den Schlüsseln?", "In club/rules.md."),
    (_RULES, "u kogo są klucze?", "Klucze ma Omar."),
    (_RULES, "look up what a guest pays, and work it out for 4 guests and 2 days", "4 * 2 * 3 = 24 euros."),
    (_MEMBERS, "who still has to pay?", "Omar and Till."),
    (
        _MEMBERS,
        "combien rapportent les cotisations en moyenne ?",
        "(120 + 95 + 120) / 3 = 111,67 euros en moyenne.",
    ),
    (_BOAT, "schau nach, wie lang das Boot ist", "6,4 m."),
    (_BOAT, "what year is the boat from, and in which note is that?", "In boat.txt: it was built in 1988."),
    (_LOG, "Jak długo silnik pracował 3 lutego?", "12:30 - 10:02 = 2:28, czyli 2 godziny i 28 minut."),
)
FOUND_THERE: Final = "found there"
_TEXT_RULES: Final = """\
You write the text of a new file for a person, from what is shown above the request. Write only what the request asks for, in its \
language and in the form that it wants: no menus, no other parts of what is shown, and nothing around the text."""
_SLIP: Final = """\
https://harbour.example/slip:
Home | Berths | Prices

Slip closed

Because of a broken winch the slip is closed from 4 to 19 May. Until then boats go into the water in Lerwick, for 35 euros.
The winch was bought in 1998.

Contact | Legal notice"""
_TEXTS: Final = (
    (_MEMBERS, "fees.md: jeder mit seinem Beitrag, einer pro Zeile", "Lena: 120\nOmar: 95\nTill: 120"),
    (_MEMBERS, "names of everyone who came after 2013 into new.txt, one a line", "Lena\nTill"),
    (
        _SLIP,
        "Fass die Seite https://harbour.example/slip in slip.md zusammen, für Lena: warum und wie lange, und wohin solange",
        "Slipanlage vom 4. bis 19. Mai zu, die Winde ist kaputt. Solange kommen Boote in Lerwick ins Wasser (35 Euro).",
    ),
    (
        _LOG,
        "écris dans arrets.txt quand le moteur s'est arrêté, rien d'autre",
        "2026-02-01 09:40\n2026-02-03 12:30",
    ),
    (_COSTS, "put what march has cost into march.txt, just the number", "48.5 + 22"),
    (_MEMBERS, "unpaid.csv with name and fee of those who have not paid", "name,fee\nOmar,95\nTill,120"),
    (
        _RULES,
        "for our visitors: guests.md, the rules one below the other",
        "- No noise after ten\n- A guest pays 3 euros a day\n- The slip is closed on Mondays\n- Keys are with Omar",
    ),
)
_SEARCH_RULES: Final = """\
A person looks for something in their own files, which are in English. Write the words of the request that name things, people and actions \
in English, each with another word for it."""
_SEARCHED: Final = (
    ("wo steht nochmal, was ein Gast am Tag zahlt?", "guest, visitor; day, daily; pay, fee, price"),
    ("¿a quién le presté la escalera?", "lend, lent, borrowed; ladder"),
    ("Kiedy wygasa ubezpieczenie mojej łodzi?", "expire, valid until; insurance, policy; boat"),
    ("which of my notes has the plumber in it", "plumber, heating, pipes"),
    ("où ai-je noté la taille des voiles ?", "size, area; sail, sails"),
    ("Wann muss das Rettungsfloß wieder zur Wartung?", "life raft, raft; maintenance, service, inspection"),
    ("Ile kosztował nas nowy zamek do drzwi?", "cost, price; lock; door"),
    ("quand est-ce que le voisin rend la remorque ?", "neighbour; return, give back; trailer"),
)
NOT_IN: Final = "I did not find it in "
_NOT_FOUND_RULES: Final = """\
A person asked for something that was looked for and not found. Say so in one short sentence, in the language of the request: what was \
not found, where it was looked for, and which file is missing. Say nothing else."""
_NOT_FOUND: Final = (
    (
        ("boat.txt", "club/rules.md"),
        (),
        "what does a new mast cost",
        "I could not find what a new mast costs, not in boat.txt nor in club/rules.md.",
    ),
    (
        ("club/members.csv",),
        (),
        "wie tief ist der Hafen?",
        "In club/members.csv steht nichts darüber, wie tief der Hafen ist.",
    ),
    (
        ("boat/engine.log",),
        (),
        "¿cuándo cambiamos el aceite?",
        "No encuentro en boat/engine.log cuándo cambiamos el aceite.",
    ),
    (
        ("boat.txt", "club/members.csv"),
        (),
        "l'adresse de Till ?",
        "Je n'ai pas trouvé l'adresse de Till dans boat.txt ni dans club/members.csv.",
    ),
    (
        ("boat/costs.json",),
        ("umowa.txt",),
        "co mówi umowa.txt o pogodzie",
        "Nie ma pliku umowa.txt, a w boat/costs.json nic o tym nie znalazłem.",
    ),
    (
        ("club/rules.md",),
        ("fees.md",),
        "what is in fees.md about guests?",
        "There is no file fees.md, and I did not find it in club/rules.md.",
    ),
)
_TRANSLATION_RULES: Final = """\
An assistant has answered a person. Write its answer in the language of the person, with their words. Reply with that alone."""
_TRANSLATIONS: Final = (
    (
        "buch mir einen Liegeplatz in Lerwick",
        "I cannot book a berth.",
        "German",
        "Ich kann keinen Liegeplatz in Lerwick buchen.",
    ),
    ("arranca el motor del Ida", "I cannot start engines.", "Spanish", "No puedo arrancar el motor del Ida."),
    ("jak głęboki jest port?", "I do not know.", "Polish", "Nie wiem, jak głęboki jest port."),
)
_QUESTION_RULES: Final = """\
A person asked for a change, which is made, and also wants to know something. Write only the question that is left, in the language of the \
person, with the names and times that it needs. The change does not belong to it."""
_QUESTIONS: Final = (
    ("Lena has paid, note that and tell me who still owes something", "Who still owes something?"),
    ("efface la ligne sur le bruit et dis-moi combien de règles il reste", "Combien de règles reste-t-il ?"),
    (
        "put 14 metres of rope into costs.json, 30 euros. which rope was dearer, this one or March's?",
        "Which rope was dearer, the new one or March's?",
    ),
    ("setz die Gebühr von Till auf 95 und sag mir, wie hoch sie war", "Wie hoch war die Gebühr von Till?"),
    ("usuń Tilla z listy i powiedz, ilu nas zostało", "Ilu nas zostało?"),
    ("copia boat.txt a ida.txt y dime cuánto mide el barco", "¿Cuánto mide el barco?"),
    (
        "the mast is 9 m now, put that in boat.txt, and by how much is it longer?",
        "By how much is the mast longer than before?",
    ),
    (
        "trag für den 3. Mai 4 Stunden ein. wie lang lief der Motor seit April insgesamt?",
        "Wie lang lief der Motor seit April insgesamt?",
    ),
)
_REPLY_RULES: Final = """\
You are aeond, the assistant on a person's computer. Answer briefly, in the language of the request. In this reply you can \
only talk: nothing can be looked up, kept or changed."""
_COMPUTED_RULES: Final = f"{_REPLY_RULES} What was asked for is computed: state it in one short sentence."


def _known_or_not(start: str) -> str:
    return UNKNOWN if start.startswith(UNKNOWN) else KNOWN


ANSWER_KNOWN: Final = Question(_KNOWN_RULES, "{}", _KNOWN, _known_or_not)
"""Asks for the answer from general knowledge alone, UNKNOWN where that cannot have it; any other answer counts as KNOWN."""


def reply_messages(run: RunSnapshot, computed: Sequence[tuple[str, str]] = ()) -> tuple[Message, ...]:
    """The request, with calculations and their results, in a conversation without tools, files and facts: with facts in view a small
    model answers with one of them."""
    instructions = run.request.instructions
    rules = _COMPUTED_RULES if computed else _REPLY_RULES
    rules = f"{rules}\n\n{instructions}" if instructions else rules
    parts = [
        f"Said before:\n{run.context}" if run.context else "",
        *(f"{expression} = {result}" for expression, result in computed),
        run.text,
    ]
    return conversation(rules, (), "\n\n".join(part for part in parts if part))


def results_messages(
    run: RunSnapshot, situation: Situation, results: Sequence[tuple[str, str]]
) -> tuple[Message, ...]:
    """The request below what was looked up for it: of each result its place and its text. Asks for the answer alone."""
    shots = ((f"{shown}\n\n{request_line(said)}", answer) for shown, said, answer in _ANSWERED)
    return conversation(_RESULTS_RULES, shots, _below_results(run, situation, results))


def text_messages(
    run: RunSnapshot, situation: Situation, results: Sequence[tuple[str, str]]
) -> tuple[Message, ...]:
    """The request below what was looked up for it, as in `results_messages`. Asks for the text of the new file that it names."""
    shots = ((f"{shown}\n\n{request_line(said)}", text) for shown, said, text in _TEXTS)
    return conversation(_TEXT_RULES, shots, _below_results(run, situation, results))


def translation_messages(request: str, text: str, language: str) -> tuple[Message, ...]:
    """Asks for this answer to the request in the language with this English name."""
    shots = ((_to_translate(said, reply, into), answer) for said, reply, into, answer in _TRANSLATIONS)
    return conversation(_TRANSLATION_RULES, shots, _to_translate(request, text, language))


def question_messages(request: str) -> tuple[Message, ...]:
    """Asks for the question that a request leaves once its change is made."""
    return conversation(_QUESTION_RULES, _QUESTIONS, request)


def search_messages(request: str) -> tuple[Message, ...]:
    """Asks for the English words under which something may be noted that a person looks for."""
    return conversation(_SEARCH_RULES, _SEARCHED, request)


def not_found_messages(request: str, places: Sequence[str], missing: Sequence[str]) -> tuple[Message, ...]:
    """Asks how to say that nothing was found in the places, and that files are missing which the request names."""
    shots = ((_looked_for(said, looked, lacking), answer) for looked, lacking, said, answer in _NOT_FOUND)
    return conversation(_NOT_FOUND_RULES, shots, _looked_for(request, places, missing))


def _below_results(run: RunSnapshot, situation: Situation, results: Sequence[tuple[str, str]]) -> str:
    parts = [
        f"Said before:\n{run.context}" if run.context else "",
        facts_text(situation) if situation.facts else "",
        f"Now: {situation.time}" if situation.time else "",
        *(f"{place}:\n{text}" for place, text in results),
        request_line(run.text),
    ]
    return "\n\n".join(part for part in parts if part)


def _looked_for(request: str, places: Sequence[str], missing: Sequence[str]) -> str:
    parts = [f"Looked at: {', '.join(places)}", f"Missing: {', '.join(missing)}" if missing else ""]
    return "\n".join([*filter(None, parts), request_line(request)])


def _to_translate(request: str, text: str, language: str) -> str:
    return f"Person: {request}\nAssistant: {text}\nIn {language}:"
