"""Facts remembered for the user."""

from typing import Final

from aeond.domain.values import JsonValue
from aeond.frozen import frozen


@frozen
class FactSource:
    """Where a fact comes from: the run that wrote it ("": a client), and the untrusted sources the run had read."""

    run_id: str = ""
    taint: tuple[str, ...] = ()


BY_CLIENT: Final = FactSource()


@frozen
class Fact:
    """A value under its key. `score` says from 0 to 1 how much it has to do with what was asked for."""

    key: str
    value: JsonValue
    score: float = 1.0
