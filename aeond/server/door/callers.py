"""The callers behind open connections."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from aeond.domain.runs.run import Caller
from aeond.errors import RefusedError


class Callers:
    """Identifies a call by the abstract socket name that gRPC reports as its peer.

    A name is created for each connection, cannot be guessed in advance and cannot be bound twice; therefore the entry
    under this name identifies the caller.
    """

    def __init__(self) -> None:
        self._by_peer: dict[str, Caller] = {}

    @contextmanager
    def naming(self, caller: Caller) -> Iterator[str]:
        """A new abstract socket name, without its NUL, which stands for this caller while the context is open."""
        name = f"aeond/{secrets.token_hex(16)}/{caller.owner.uid}/{caller.owner.pid}"
        shown = f"unix-abstract:{quote(name)}"
        self._by_peer[shown] = caller
        try:
            yield name
        finally:
            del self._by_peer[shown]

    def of(self, peer: str) -> Caller:
        """The caller, from the peer name that gRPC reports.

        RefusedError (reason NOT_THROUGH_DOOR) for a peer that did not connect through a door.
        """
        caller = self._by_peer.get(peer)
        if caller is None:
            raise RefusedError(
                "Calls are accepted only through the daemon's socket.", reason="NOT_THROUGH_DOOR"
            )
        return caller
