"""What a request shares with the files and facts that are kept here.

Whether something is to be changed in a file or in the memory, or looked up at all, follows from that better than from the request alone:
ADR 0118 has the measurements.
"""

from typing import Final

from aeond.domain.names import words_of
from aeond.domain.runs.run import RunSnapshot
from aeond.domain.runs.situations import Situation
from aeond.domain.values import display_json
from aeond.frozen import frozen
from aeond.orchestration.context.new_files import names_new_file

_SHORTEST: Final = 3  # characters of a word that a request shares with the name of a fact


@frozen
class Surroundings:
    """`near_file`: by its words it is probably about a file. `names_new_file`: it has the name of one that does not exist.
    `names_fact`: it has all words of a fact's name, or one of them and its value. `shares_fact`: it has a word of such a name."""

    near_file: bool = False
    names_new_file: bool = False
    names_fact: bool = False
    shares_fact: bool = False


NOTHING_AROUND: Final = Surroundings()


def surroundings_of(run: RunSnapshot, situation: Situation) -> Surroundings:
    """What the run's request shares with what is in view."""
    said = frozenset(words_of(run.text))
    facts = [
        (frozenset(words_of(name)), frozenset(words_of(display_json(value))))
        for name, value in situation.facts
    ]
    named = any(name & said and (name <= said or (value and value <= said)) for name, value in facts)
    shared = any(len(word) >= _SHORTEST for name, _ in facts for word in name & said)
    return Surroundings(bool(situation.nearest), names_new_file(run, situation), named, shared)
