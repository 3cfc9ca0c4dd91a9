"""How one case came out, and what a set of them is."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from aeond.ports import LLMAdapter


@dataclass(frozen=True, slots=True)
class Verdict:
    """`said` is what the model made of a case, `missed` what is wrong with that; nothing: it is right."""

    case: str
    group: str
    said: str
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Asks a model a number of things; `least_share` of them must come out right with the default model."""

    name: str
    least_share: float
    judge: Callable[[LLMAdapter], AsyncIterator[Verdict]]
