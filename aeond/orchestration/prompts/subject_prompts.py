"""The prompts with which a small model says what a request is about, what for, and for how many things."""

from typing import Final

from aeond.domain.runs.situations import Situation
from aeond.orchestration.prompts.decision_prompts import (
    Question,
    begun,
    facts_text,
    request_line,
    whole,
)

KNOWLEDGE: Final = "know"
CHANGE: Final = "do"
COMPUTATION: Final = "compute"
OTHER_SUBJECTS: Final = ("files", "facts", COMPUTATION, CHANGE)
SUBJECT_WORDS: Final = (KNOWLEDGE, *OTHER_SUBJECTS)

_SUBJECT_RULES: Final = """\
Say in one word what a request needs: know (general knowledge, language or imagination, also a text that is only told), files (a \
look into the person's files), facts (what the person said before), compute (a calculation), do (files or facts are to be \
changed, kept or removed, or something is to be sent)."""
_SUBJECTS: Final = (
    ("why is the sea salty?", KNOWLEDGE),
    ("what does the club say about guests", "files"),
    ("Comment s'appelle mon bateau ?", "facts"),
    ("write me a rhyme on sail", KNOWLEDGE),
    ("send the rules to Omar by mail", CHANGE),
    ("how many days from 20 april to 3 june", COMPUTATION),
    ("lies mir die Regeln vor", "files"),
    ("by the way the gate code is 9021 now", CHANGE),
    ("remind me where the spare oar is", "facts"),
    ("was heißt Hafen auf Spanisch?", KNOWLEDGE),
    ("Till has left the club, take him out", CHANGE),
    ("Who pays more, Lena or Omar?", "files"),
    ("draft a polite note to the harbour master, I'll copy it", KNOWLEDGE),
    ("A list todo.txt with: paint, rope, and two lamps", CHANGE),
    ("ile kosztuje 12 lamp po 8.50", COMPUTATION),
    ("show me the members", "files"),
    ("put this in better English: we was at sea since two days", KNOWLEDGE),
    ("retiens que le mât fait 9 mètres", CHANGE),
    ("resume las reglas en dos frases", "files"),
    ("is ice heavier than water", KNOWLEDGE),
    ("when did I say the sails get washed?", "facts"),
    ("count the members and put the number into club/count.txt", CHANGE),
)
ASKS: Final = "ask"
TELLS: Final = "tell"
EDITS: Final = "edit"
ACTS: Final = "act"
INTENT_WORDS: Final = (ASKS, TELLS, EDITS, ACTS)
_INTENT_RULES: Final = """\
A person writes to an assistant that looks after their notes and files. Say in one word what the person does: ask (wants to know \
something), tell (says something that is to be known from now on, or no longer), edit (wants a note or file written, changed, moved or \
removed), act (wants something done outside of notes and files: calls, letters, printing, orders, machines)."""
_INTENTS: Final = (
    ("what does the club say about guests", ASKS),
    ("by the way the gate code is 9021 now", TELLS),
    ("put varnish on the to-do list", EDITS),
    ("remind me where the spare oar is", ASKS),
    ("retiens que le mât fait 9 mètres", TELLS),
    ("Ruf bitte den Hafen an", ACTS),
    ("we have a new sailmaker, Greta", TELLS),
    ("ile kosztuje 12 lamp po 8.50", ASKS),
    ("Noise in the club rules should be music", EDITS),
    ("I get seasick, just so you know", TELLS),
    ("who still has to pay", ASKS),
    ("send the rules to Omar by mail", ACTS),
    ("el barco ahora se llama Luna", TELLS),
    ("was heißt Hafen auf Spanisch?", ASKS),
    ("imprime las reglas dos veces", ACTS),
    ("you need not know the gate code any longer", TELLS),
    ("show me the members", ASKS),
    ("A list todo.txt with: paint, rope, and two lamps", EDITS),
    ("puść jakąś piosenkę o morzu", ACTS),
    ("Till has left the club, take him out", EDITS),
    ("get us a table at the harbour restaurant for eight", ACTS),
    ("efface la ligne sur le bruit", EDITS),
)
TALKS: Final = "chat"
FACT: Final = "fact"
_TALK_RULES: Final = """\
A person says something to an assistant that remembers what it is told. Say in one word: fact (it holds for a while, and the person \
may ask for it later) or chat (thanks, a greeting, a mood, the weather, a remark on the moment)."""
_TALK: Final = (
    ("by the way the gate code is 9021 now", FACT),
    ("thanks, you found it quickly", TALKS),
    ("retiens que le mât fait 9 mètres", FACT),
    ("what a wind today, my hat is in the harbour", TALKS),
    ("I get seasick, just so you know", FACT),
    ("Moin!", TALKS),
    ("el barco ahora se llama Luna", FACT),
    ("nie mam dziś na nic siły", TALKS),
    ("we have a new sailmaker, Greta", FACT),
    ("oh well, it's only a boat", TALKS),
    ("Omar bringt ab jetzt den Anker", FACT),
    ("je suis trempé, sept heures sur l'eau", TALKS),
    ("you need not know the gate code any longer", FACT),
    ("bis morgen dann", TALKS),
    ("Lena never sails on Sundays, mind that", FACT),
    ("you did that well!", TALKS),
    ("mein Liegeplatz stimmt nicht, es ist die 14", FACT),
    ("eres genial", TALKS),
    ("no olvides que a Omar no le gusta el pescado", FACT),
    ("wow, what a surprise", TALKS),
)
MEMORY: Final = "memory"
FILE: Final = "file"
WORLD: Final = "world"
_PLACE_RULES: Final = """\
A person wants something done. Say in one word where: memory (what the assistant knows of the person: to be kept in mind, corrected or \
forgotten), file (a text, list, table or note in the person's folder), world (people, shops, devices, the internet)."""
_PLACE_SITUATION: Final = Situation(
    facts=(("boat name", "Ida"), ("gate code", "7714"), ("sailmaker", "Otto"))
)
_PLACES: Final = (
    ("by the way the gate code is 9021 now", MEMORY),
    ("Till has left the club, take him out", FILE),
    ("Ruf bitte den Hafen an", WORLD),
    ("retiens que le mât fait 9 mètres", MEMORY),
    ("A list with paint, rope and two lamps, call it todo", FILE),
    ("we have a new sailmaker, Greta", MEMORY),
    ("send the rules to Omar by mail", WORLD),
    ("neu im Club: Vera, 95 Euro", FILE),
    ("I get seasick, just so you know", MEMORY),
    ("Noise in the club rules should be music", FILE),
    ("imprime las reglas dos veces", WORLD),
    ("el barco ahora se llama Luna", MEMORY),
    ("put varnish on the to-do list", FILE),
    ("get us a table at the harbour restaurant for eight", WORLD),
    ("merk dir: Omar bringt den Anker", MEMORY),
    ("zmień długość łodzi na 6,5 m w opisie", FILE),
    ("you need not know the gate code any longer", MEMORY),
    ("move the rules into a folder old", FILE),
    ("puść jakąś piosenkę o morzu", WORLD),
    ("my berth is number 12 from March on", MEMORY),
    ("Lena has paid", FILE),
)
ONE: Final = "one"
SEVERAL: Final = "several"
_EXTENT_RULES: Final = """\
A request to an assistant may be for one thing or for several. Say in one word: one or several."""
_EXTENTS: Final = (
    ("put varnish on the to-do list and on the one of Omar", ONE),
    ("who still has to pay, and tell me how much it is together", ONE),
    ("move the rules into a folder old, then write a new list todo.txt with paint and rope", SEVERAL),
    ("A list todo.txt with: paint, rope, and two lamps", ONE),
    ("look up what Lena pays, double it and keep that in mind as my fee", SEVERAL),
    ("I get seasick, just so you know", ONE),
    ("Schau nach, wer Schlüssel hat, und streich ihn aus der Liste der Mitglieder", SEVERAL),
    ("ile kosztuje 12 lamp po 8.50 i 3 liny po 4", ONE),
    ("cuenta los socios y pon el número en club/count.txt", SEVERAL),
    ("Lena has moved, her new address is 4 Quay Road and the phone stays", ONE),
    ("efface la ligne sur le bruit et dis-moi combien de règles il reste", SEVERAL),
    ("the boat's description in Polish please, as boat_pl.txt", ONE),
    ("Noise in the club rules should be music, and I need you to remember that Till has left", SEVERAL),
    ("is ice heavier than water, and why", ONE),
)
DONE: Final = "done"
ANSWER: Final = "answer"
BOTH: Final = "both"
_WANTED_RULES: Final = """\
A person writes to an assistant that looks after their notes and files. Say in one word what the person wants: answer (only to know \
something, nothing is changed or kept), done (only that something is changed, kept or written) or both (something is changed, kept or written, \
and the person also wants to be told a number, a name or something else)."""
_WANTED: Final = (
    ("put varnish on the to-do list and on the one of Omar", DONE),
    ("what does the club say about guests, and since when", ANSWER),
    ("Lena has paid, note that and tell me who still owes something", BOTH),
    ("I get seasick, just so you know", DONE),
    ("tell me who has a key and how much they paid", ANSWER),
    ("efface la ligne sur le bruit et dis-moi combien de règles il reste", BOTH),
    ("look up what Lena pays, double it and keep that in mind as my fee", DONE),
    ("setz die Gebühr von Till auf 95 und sag mir, wie hoch sie war", BOTH),
    ("lies mir die Regeln vor und sag, welche neu sind", ANSWER),
    ("Schau nach, wer Schlüssel hat, und streich ihn aus der Liste der Mitglieder", DONE),
    ("Who pays more, Lena or Omar?", ANSWER),
    ("add rope to todo.txt. what else is on it?", BOTH),
    ("cuenta los socios y pon el número en club/count.txt", DONE),
    ("usuń Tilla z listy i powiedz, ilu nas zostało", BOTH),
    ("si les 9 bateaux paient 40 euros, combien en tout", ANSWER),
    ("Noise in the club rules should be music, and I need you to remember that Till has left", DONE),
    ("copia boat.txt a ida.txt y dime cuánto mide el barco", BOTH),
    ("dime cuánto mide el barco y cómo se llama", ANSWER),
    ("the gate code is 9021 now, tell nobody", DONE),
    ("change the mast to 9 m in boat.txt and let me know by how much it is longer", BOTH),
    ("find the member who has not paid and give me the phone number", ANSWER),
)
RENAME: Final = "rename"
NEW_FILE: Final = "new"
TEXT: Final = "text"
_NAMING_RULES: Final = """\
A person names a file that exists and a name that no file has. Say in one word what the name is for: rename (the file gets this name, with \
all that stands in it), new (something is written into a new file of this name), text (the name only stands in a text)."""
_NAMINGS: Final = (
    ("club/rules.md", "house.md", "call the rules in rules.md house.md from now on", RENAME),
    ("boat.txt", "mast.txt", "look up in boat.txt how long the mast is and put it into mast.txt", NEW_FILE),
    ("todo.txt", "paint.pdf", "add 'read paint.pdf' to todo.txt", TEXT),
    ("club/members.csv", "mitglieder.csv", "members.csv soll mitglieder.csv heißen", RENAME),
    ("harbour.json", "notatka.txt", "zapisz numer z harbour.json w notatka.txt", NEW_FILE),
    ("drafts/invitation.txt", "old/invite.txt", "mv drafts/invitation.txt old/invite.txt", RENAME),
    ("club/rules.md", "guests.md", "fais un guests.md avec la règle 2 de rules.md", NEW_FILE),
    (
        "boat.txt",
        "mast.txt",
        "in boat.txt steht noch, dass der Rest in mast.txt ist, das stimmt nicht mehr",
        TEXT,
    ),
    ("engine.log", "motor.log", "cámbiale el nombre a engine.log, que sea motor.log", RENAME),
    ("todo.txt", "todo_old.txt", "what's in todo.txt goes into todo_old.txt as well", NEW_FILE),
)
NO_FACT: Final = "none"
FACT_LETTERS: Final = "ABCDEFGHIJKLMNOPQRST"
_CORRECTION_RULES: Final = """\
A person says something to an assistant, which remembers the things below, each with a letter. Say the letter of the one that the \
person corrects: the very thing that the person speaks of, because it has changed, was wrong, or is to be forgotten. Say none if the person \
speaks of another thing, even if it is alike, or asks for something else."""
_HARBOUR_FACTS: Final = """\
A gate code: 7714
B sailmaker: Otto, at the pier
C mast height: 9 m
D spare oar: in the shed
E Lena birthday: 3 May
F harbour office: open Monday to Friday, 8 to 12"""
_BOAT_FACTS: Final = """\
A boat name: Ida
B puesto: 12
C engine oil: 15W-40
D sister: Lena, lives in Hull
E skipper phone: 555 0142"""
_CORRECTIONS: Final = (
    (_HARBOUR_FACTS, "by the way they changed the number at the gate, 9021", "A"),
    (_HARBOUR_FACTS, "retiens que le bateau fait 6 mètres", NO_FACT),
    (_HARBOUR_FACTS, "Otto nimmt jetzt 50 Euro, sonst alles wie gehabt", "B"),
    (_HARBOUR_FACTS, "the spare anchor is in the cabin", NO_FACT),
    (_HARBOUR_FACTS, "from May on the office stays open till 2", "F"),
    (_HARBOUR_FACTS, "la rame de rechange est dans la cabine", "D"),
    (_BOAT_FACTS, "Omar's birthday is on 9 June", NO_FACT),
    (_BOAT_FACTS, "a partir de marzo estoy en el 14", "B"),
    (_BOAT_FACTS, "das Beiboot heißt Luna", NO_FACT),
    (_BOAT_FACTS, "my sister has moved to Leeds", "D"),
    (_BOAT_FACTS, "pani Kowalska ma numer 555 0178", NO_FACT),
    (_BOAT_FACTS, "zły olej do silnika, popraw na 10W-40", "C"),
    (_BOAT_FACTS, "put new oil on the shopping list", NO_FACT),
    (_HARBOUR_FACTS, "we took down the old mast, the new one is 11", "C"),
    (_HARBOUR_FACTS, "is the gate locked at night", NO_FACT),
    (_BOAT_FACTS, "forget what we called the boat, we sold it", "A"),
)


CONTENT: Final = "content"
ADDRESS: Final = "address"
_PAGES_RULES: Final = """\
A person writes to an assistant, with the address of a web page. Say in one word what is needed for that: content (what stands on the \
page: it is to be read), address (only the address itself: it is to be kept, passed on, opened or put somewhere)."""
_PAGES: Final = (
    ("what does a berth cost there? https://harbour.example/prices", CONTENT),
    ("for later: the club has https://club.example now", ADDRESS),
    ("Fass mir https://news.example/slip zusammen", CONTENT),
    ("add https://paint.example/red to links.txt", ADDRESS),
    ("https://club.example/races: when is the first race, and put the dates into races.txt", CONTENT),
    ("ouvre https://meteo.example dans le navigateur", ADDRESS),
    ("¿en https://tides.example dice algo de mañana?", CONTENT),
    ("the new address of the sailmaker is https://sails.example, change it in contacts.md", ADDRESS),
    ("compare https://a.example/ropes and https://b.example/ropes", CONTENT),
    ("ściągnij https://charts.example/all.zip", ADDRESS),
)
ALL: Final = "all"
_READING_RULES: Final = """\
A person asks an assistant for something in a folder of files. Say in one word what is to be read: one (the one file that has it), all \
(every file of the folder, because it is about all of them, or has to be gathered from several)."""
_BOAT_FILES: Final = "boat: boat/engine.log, boat/costs.json, boat/rules.md"
_CLUB_FILES: Final = "club: club/members.csv, club/rules.md, club/keys.txt"
_READINGS: Final = (
    (_BOAT_FILES, "what did the rope for the boat cost", ONE),
    (
        "club: club/may.txt, club/june.txt, club/july.txt",
        "read through the club notes and tell me what was decided about the slip",
        ALL,
    ),
    (
        "letters: letters/omar.txt, letters/lena.txt, letters/till.txt",
        "Wer hat in den Briefen im Ordner letters nach dem Anker gefragt?",
        ALL,
    ),
    (_CLUB_FILES, "how many members has the club", ONE),
    (
        "trips: trips/kiel.md, trips/sopot.md, trips/lerwick.md",
        "Fais-moi un résumé de tout ce qu'il y a dans trips",
        ALL,
    ),
    (_CLUB_FILES, "czy w klubie wolno hałasować po dziesiątej?", ONE),
    (_BOAT_FILES, "when was the pressure low on the boat", ONE),
    (
        "offers: offers/a.txt, offers/b.txt, offers/c.txt",
        "compare the offers, which sailmaker is cheapest",
        ALL,
    ),
    ("boat: boat/sails.txt, boat/mast.txt, boat/paint.txt", "¿de qué color son las velas del barco?", ONE),
    (
        "reports: reports/march.txt, reports/april.txt, reports/may.txt",
        "in which of these reports does it say that the crane broke",
        ALL,
    ),
)


def _subject(start: str) -> str:
    return KNOWLEDGE if start == KNOWLEDGE else begun(*OTHER_SUBJECTS)(start)


def _letter(start: str) -> str:
    return start if start in [*FACT_LETTERS] else begun(NO_FACT)(start)


_REQUEST: Final = "Request: {}"
SUBJECT: Final = Question(_SUBJECT_RULES, _REQUEST, _SUBJECTS, _subject)
"""Asks what a request is about: KNOWLEDGE or one of OTHER_SUBJECTS."""
INTENT: Final = Question(_INTENT_RULES, _REQUEST, _INTENTS, begun(*INTENT_WORDS))
"""Asks what a person does with a request: ASKS, TELLS, EDITS or ACTS."""
SMALL_TALK: Final = Question(_TALK_RULES, _REQUEST, _TALK, begun(TALKS, FACT))
"""Asks whether a person only TALKS or says a FACT. Orders and questions are taken for facts rather than for talk."""
EXTENT: Final = Question(_EXTENT_RULES, _REQUEST, _EXTENTS, begun(ONE, SEVERAL))
"""Asks whether a request is for ONE thing or for SEVERAL."""
WANTED: Final = Question(_WANTED_RULES, _REQUEST, _WANTED, begun(DONE, ANSWER, BOTH))
"""Asks whether a person wants an ANSWER, something DONE, or BOTH."""
PAGES: Final = Question(_PAGES_RULES, _REQUEST, _PAGES, begun(CONTENT, ADDRESS))
"""Asks whether a request with the address of a page needs its CONTENT, or only the ADDRESS."""
READING: Final = Question(_READING_RULES, "{}\nRequest: {}", _READINGS, whole(ALL, ONE))
"""Asks whether a request needs ONE file of a folder or ALL of them, by the folder with its files and the request."""
NAMING: Final = Question(
    _NAMING_RULES,
    "Exists: {}\nNo file yet: {}\nRequest: {}",
    _NAMINGS,
    begun(RENAME, NEW_FILE, TEXT),
)
"""Asks what a name is for that no file has yet, by a file that exists, the name and the request: RENAME, NEW_FILE or TEXT."""
CORRECTION: Final = Question(_CORRECTION_RULES, "{}\n\nThe person: {}", _CORRECTIONS, _letter)
"""Asks which fact a request corrects, by the facts with their letters and the request: one of FACT_LETTERS or NO_FACT."""


def place_view(request: str, situation: Situation) -> str:
    """The request below the facts in view: what corrects one of them belongs there."""
    return "\n".join(part for part in (facts_text(situation), request_line(request)) if part)


PLACE: Final = Question(
    _PLACE_RULES,
    "{}",
    [(place_view(said, _PLACE_SITUATION), place) for said, place in _PLACES],
    begun(MEMORY, FILE, WORLD),
)
"""Asks where something is to be done, by the `place_view` of a request: MEMORY, FILE or WORLD."""
