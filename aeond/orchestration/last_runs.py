"""Knowledge about the runs that came last."""

from typing import Final, TypeVar

K = TypeVar("K")
T = TypeVar("T")
MAX_RUNS: Final = 64


class LastRuns(dict[K, T]):
    """A dictionary that drops its oldest entry when there are more than MAX_RUNS."""

    def __setitem__(self, key: K, value: T) -> None:
        super().__setitem__(key, value)
        if len(self) > MAX_RUNS:
            del self[next(iter(self))]
