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
MAX_SOURCE_CHARS: Final = 200


def fact_as_source(key: str) -> str:
    """The name of a fact as an untrusted source."""
    return f"memory:{key}"[:MAX_SOURCE_CHARS]


def unknown_source(key: str) -> FactSource:
    """The source of a fact whose source was not recorded: the fact counts as untrusted."""
    return FactSource(taint=(fact_as_source(key),))


@frozen
class Fact:
    """A value under its key. `score` says from 0 to 1 how much it has to do with what was asked for."""

    key: str
    value: JsonValue
    score: float = 1.0
