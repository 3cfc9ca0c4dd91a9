"""Knowledge about the runs that came last."""

from typing import Final, TypeVar

K = TypeVar("K")
T = TypeVar("T")
MAX_RUNS: Final = 64


class LastRuns(dict[K, T]):
    """A dictionary that drops its oldest entry when there are more than `most`."""

    def __init__(self, most: int = MAX_RUNS) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: T) -> None:
        super().__setitem__(key, value)
        if len(self) > self._most:
            del self[next(iter(self))]
