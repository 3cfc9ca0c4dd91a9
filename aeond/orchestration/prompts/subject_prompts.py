"""The prompts with which a small model says what a request is about, and answers from what it knows."""

from collections.abc import Sequence
from typing import Final

from aeond.domain.messages import Message, Role
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.orchestration.prompts.decision_prompts import facts_text

KNOWLEDGE: Final = "know"
CHANGE: Final = "do"
COMPUTATION: Final = "compute"
OTHER_SUBJECTS: Final = ("files", "facts", COMPUTATION, CHANGE)

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
SAID: Final = "said"
FILES: Final = "files"
_CONTENT_RULES: Final = """\
A person wants a text file. Say in one word where its content comes from: said (it stands in the request, or is made up), files (it \
is looked up in the person's files first)."""
_CONTENTS: Final = (
    ("A list todo.txt with: paint, rope, and two lamps", SAID),
    ("write the names of all who have not paid into club/reminders.txt", FILES),
    ("new file oath.md: I promise to keep the deck clean", SAID),
    ("Mach mir gesamt.txt, darin nur die Summe aller Beiträge", FILES),
    ("we are closed from 3 to 9 May, do a short sign for the gate as sign.txt", SAID),
    ("the rules without the one about noise, as rules_new.md", FILES),
    ("un poema corto sobre el mar en poema.txt", SAID),
    ("club/guests.csv with two columns, name and fee: Vera 95, Till 20", SAID),
    ("the boat's description in Polish please, as boat_pl.txt", FILES),
    ("fais un fichier anciens.txt, un nom par ligne, de ceux qui sont là depuis dix ans", FILES),
    ("jot this down in notes.txt for me: call Greta about the sails", SAID),
    ("Zrób plik raport.md z podsumowaniem kosztów łodzi", FILES),
)
_REPLY_RULES: Final = """\
You are aeond, the assistant on a person's computer. Answer briefly, in the language of the request. In this reply you can \
only talk: nothing can be looked up, kept or changed."""


def subject_messages(request: str) -> tuple[Message, ...]:
    """Asks what the request is about; the reply is one word."""
    return _one_word(_SUBJECT_RULES, _SUBJECTS, request)


def content_messages(request: str) -> tuple[Message, ...]:
    """Asks where the content of a new file comes from; the reply is one word."""
    return _one_word(_CONTENT_RULES, _CONTENTS, request)


def place_messages(request: str, situation: Situation) -> tuple[Message, ...]:
    """Asks where something is to be done; the reply is one word. The facts are in view: what corrects one of them belongs there."""
    shots = [
        message
        for said, place in _PLACES
        for message in (
            Message(Role.USER, f"{facts_text(_PLACE_SITUATION)}\n{_request(said)}"),
            Message(Role.AGENT, place),
        )
    ]
    asked = "\n".join(part for part in (facts_text(situation), _request(request)) if part)
    return (Message(Role.SYSTEM, _PLACE_RULES), *shots, Message(Role.USER, asked))


def reply_messages(run: RunSnapshot) -> tuple[Message, ...]:
    """The request in a conversation without tools, files and facts."""
    instructions = run.request.instructions
    rules = f"{_REPLY_RULES}\n\n{instructions}" if instructions else _REPLY_RULES
    said = f"Said before:\n{run.context}\n\n{run.text}" if run.context else run.text
    return (Message(Role.SYSTEM, rules), Message(Role.USER, said))


def _one_word(rules: str, examples: Sequence[tuple[str, str]], request: str) -> tuple[Message, ...]:
    shots = [
        message
        for said, word in examples
        for message in (Message(Role.USER, _request(said)), Message(Role.AGENT, word))
    ]
    return (Message(Role.SYSTEM, rules), *shots, Message(Role.USER, _request(request)))


def _request(wording: str) -> str:
    return f"Request: {wording}"
