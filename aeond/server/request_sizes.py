"""Limits the size of the requests that the daemon holds for one user."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aeond.domain.runs.run import Caller
from aeond.errors import OverloadedError

DEFAULT_LIMIT = 64 << 20


class RequestSizes:
    """Counts the bytes of the requests in progress, by user. `limit_bytes` may change at any time."""

    def __init__(self, caller_of: Callable[[str], Caller], limit_bytes: int = DEFAULT_LIMIT) -> None:
        self.limit_bytes = limit_bytes
        self._caller_of = caller_of
        self._held: Counter[int] = Counter()  # bytes by uid

    @contextmanager
    def holding(self, peer: str, size: int) -> Iterator[None]:
        """Counts a request of this peer, as named by gRPC, while the context is open.

        OverloadedError (reason USER_BYTES) if the requests of its user would exceed the limit together.
        """
        uid = self._caller_of(peer).owner.uid
        if self._held[uid] + size > self.limit_bytes:
            raise OverloadedError(
                f"The requests of user {uid} in progress have {self._held[uid]} bytes, and the limit for one user is"
                f" {self.limit_bytes}: wait for some of them, or have an administrator raise"
                " socket.max_request_mib_per_user.",
                reason="USER_BYTES",
            )
        self._held[uid] += size
        try:
            yield
        finally:
            self._held[uid] -= size
            if not self._held[uid]:
                del self._held[uid]
