"""The outcome of one case, what it cost, and the terms on which cases are judged."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from tests.eval.subjects import Subject

RUN_SECONDS: Final = 300.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Effort:
    """The cost of a case: model calls, tokens of the prompts, the part of them that the engine had in its cache,
    tokens of the answers, and seconds."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
        )

    @property
    def read_tokens(self) -> int:
        """The tokens that the engine had to read."""
        return self.prompt_tokens - self.cached_tokens


@dataclass(frozen=True, slots=True)
class Verdict:
    """`said` is the answer and how it came about, `missed` what is wrong with it; empty: the case is right.
    `failure` names the class of a failure. A `held` case is one that nothing is tuned to. `questions` counts questions of
    the model, `approvals` those of the policy, all of which are allowed. `acted` names the mechanisms that acted, as
    `ablations` lists them."""

    case: str
    group: str
    said: str
    missed: tuple[str, ...] = ()
    held: bool = False
    effort: Effort = Effort()
    language: str = "en"
    failure: str = ""
    questions: int = 0
    approvals: int = 0
    acted: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return not self.missed


OnVerdict = Callable[[Verdict], None]


@dataclass(frozen=True, slots=True)
class Terms:
    """Which cases are judged, and how.

    `pattern` selects cases by their words; held cases are never selected by a pattern. `groups` selects cases of these groups, `requests` those with these words. `stride` takes every
    nth case and `limit` bounds their number (0: no bound). `parallel` cases are worked on at once, each for
    at most `wall_seconds`.
    """

    pattern: str = ""
    wall_seconds: float = RUN_SECONDS
    limit: int = 0
    stride: int = 1
    parallel: int = 1
    groups: tuple[str, ...] = ()
    requests: frozenset[str] | None = None

    def admit(self, words: str, held: bool, group: str = "") -> bool:
        if self.requests is not None and words not in self.requests:
            return False
        if self.groups and group not in self.groups:
            return False
        return not self.pattern or (not held and re.search(self.pattern, words, re.IGNORECASE) is not None)

    def sample(self, cases: Sequence[T]) -> Sequence[T]:
        """The cases that stride and limit leave."""
        strided = cases[:: self.stride]
        return strided[: self.limit] if self.limit else strided


class Judge(Protocol):
    """Judges the cases of one set and reports each verdict as soon as it is known."""

    def __call__(self, subject: "Subject", terms: Terms, on_verdict: OnVerdict) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class EvalSet:
    """`least_share` of the cases must be right with the default model. Where `quiet`, single cases are not shown."""

    name: str
    least_share: float
    judge: Judge
    quiet: bool = False
