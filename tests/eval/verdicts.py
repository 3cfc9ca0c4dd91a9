"""How one case came out, what a set of them is, and on which terms they are judged."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from aeond.domain.budgets import Budget
from aeond.ports import LLMAdapter


@dataclass(frozen=True, slots=True)
class Effort:
    """What a case took: calls of the model, tokens that it had to read (not those from its cache) and to
    write, and seconds, which depend on the machine and on who else works on it."""

    calls: int = 0
    read_tokens: int = 0
    written_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(
            self.calls + other.calls,
            self.read_tokens + other.read_tokens,
            self.written_tokens + other.written_tokens,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """`said` is what the model made of a case, `missed` what is wrong with that; nothing: it is right.
    A `held` case is one of those that nothing is tuned to."""

    case: str
    group: str
    said: str
    missed: tuple[str, ...] = ()
    held: bool = False
    effort: Effort = Effort()


RUN_SECONDS: Final = Budget().wall_seconds


@dataclass(frozen=True, slots=True)
class Terms:
    """Which cases are judged: all without a pattern; with one, those that nobody holds aside and whose words match
    it. `wall_seconds` is how long a run may work; what it has by then is judged."""

    pattern: str = ""
    wall_seconds: float = RUN_SECONDS

    def admit(self, words: str, held: bool) -> bool:
        return not self.pattern or (not held and re.search(self.pattern, words, re.IGNORECASE) is not None)


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Asks a model a number of things; `least_share` of them must come out right with the default model."""

    name: str
    least_share: float
    judge: Callable[[LLMAdapter, Terms], AsyncIterator[Verdict]]
