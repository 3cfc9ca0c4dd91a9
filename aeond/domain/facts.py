"""Facts remembered for the user."""

from aeond.domain.values import JsonValue
from aeond.frozen import frozen


@frozen
class Fact:
    """A value under its key. `score` says from 0 to 1 how much it has to do with what was asked for."""

    key: str
    value: JsonValue
    score: float = 1.0
