"""Runs that wait for a slot: users take turns, and the runs of one user start in the order of arrival."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import chain, zip_longest

from aeond.errors import OverloadedError
from aeond.frozen import frozen

RETRY_SECONDS = 5.0


@frozen
class RunLimits:
    """The maximum number of active runs, and of runs waiting for a slot, in all and of one user; and for how many
    seconds a run whose calls need approval waits for a client to watch it."""

    running: int = 8
    waiting: int = 256
    running_per_user: int = 4
    waiting_per_user: int = 64
    attend_seconds: float = 300.0

    @property
    def of_user(self) -> int:
        """The maximum number of active runs of a user while other users have none."""
        return min(self.running, self.running_per_user)


class RunQueue:
    """The waiting runs, including those that are being created and therefore cannot be taken yet."""

    def __init__(self) -> None:
        self._run_ids: dict[int, deque[str]] = {}  # by uid; the user whose turn is next comes first
        self._creating: Counter[int] = Counter()  # by uid

    def __len__(self) -> int:
        return self._creating.total() + sum(map(len, self._run_ids.values()))

    def __iter__(self) -> Iterator[str]:
        """The runs that can be taken, in the order of their turns."""
        rounds = zip_longest(*self._run_ids.values())
        return (run_id for run_id in chain.from_iterable(rounds) if run_id is not None)

    def count(self, uid: int) -> int:
        """The number of waiting runs of this user."""
        return self._creating[uid] + len(self._run_ids.get(uid, ()))

    def of(self, uid: int) -> tuple[str, ...]:
        """The runs of this user that can be taken, in the order of their turns."""
        return tuple(self._run_ids.get(uid, ()))

    def reserve(self, uid: int, limits: RunLimits) -> None:
        """A place for a run of this user, to be given back with `release`.

        OverloadedError: too many runs of this user (reason USER_RUNS) or of all users (TOO_MANY_RUNS) are waiting.
        """
        if self.count(uid) >= limits.waiting_per_user:
            raise OverloadedError(
                f"{self.count(uid)} runs of user {uid} are waiting, the limit for one user: retry when some have ended,"
                " or have an administrator raise runs.max_waiting_per_user",
                reason="USER_RUNS",
                retry_after_seconds=RETRY_SECONDS,
            )
        if len(self) >= limits.waiting:
            raise OverloadedError(
                f"{len(self)} runs of all users are waiting: retry when some have ended, or have an administrator raise"
                " runs.max_waiting",
                reason="TOO_MANY_RUNS",
                retry_after_seconds=RETRY_SECONDS,
            )
        self._creating[uid] += 1

    def release(self, uid: int) -> None:
        """Gives back a reserved place."""
        self._creating[uid] -= 1
        self._creating += Counter()  # forgets users without a reservation

    def add(self, run_id: str, uid: int) -> None:
        """Queues a run after the other runs of its user."""
        self._run_ids.setdefault(uid, deque()).append(run_id)

    def discard(self, run_id: str, uid: int) -> bool:
        """Removes this run of the user; returns whether it waited. The user's turn remains."""
        runs = self._run_ids.get(uid, deque())
        if run_id not in runs:
            return False
        runs.remove(run_id)
        if not runs:
            del self._run_ids[uid]
        return True

    def next_user(self, has_place: Callable[[int], bool]) -> int | None:
        """The user whose run is next; None if no run waits whose user has a place."""
        return next(filter(has_place, self._run_ids), None)

    def take(self, uid: int) -> str:
        """Removes and returns the first run of this user, who then comes after the other users."""
        runs = self._run_ids.pop(uid)
        run_id = runs.popleft()
        if runs:
            self._run_ids[uid] = runs
        return run_id
