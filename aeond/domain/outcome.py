"""Results of orchestration: a value or a problem, never an exception."""

from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

from aeond.frozen import frozen

T = TypeVar("T")
U = TypeVar("U")

BUDGET_SPENT: Final = "BUDGET_SPENT"
"""The reason of every operation whose grant did not suffice: no model calls left, or too few tokens for a prompt."""


@frozen
class Problem:
    """A problem: its reason, its place, and whether a retry can help.

    `reason` is a stable UPPER_SNAKE word for programs, `message` a description for people, `path` the place
    in the checked value as a JSON pointer ("" for the whole).
    """

    reason: str
    message: str
    path: str = ""
    retryable: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@frozen
class Outcome(Generic[T]):
    """The result of an orchestration step: unpacks as `ok, value, problem`.

    If `ok` is false, `problem` says why, and `value` may hold a usable fallback.
    """

    ok: bool
    value: T
    problem: Problem | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.ok, self.value, self.problem))

    @property
    def cause(self) -> Problem:
        """The problem of a failure."""
        assert self.problem is not None, "a success has no cause"
        return self.problem

    def failed(self, fallback: U) -> "Outcome[U]":
        """The same failure with another fallback value."""
        return failure(self.cause, fallback)


def success(value: T) -> Outcome[T]:
    return Outcome(True, value)


def failure(problem: Problem, fallback: T) -> Outcome[T]:
    """A failure with a fallback value."""
    return Outcome(False, fallback, problem)
