"""Who may come in: identity as the kernel of Linux tells it, and the rule that judges it."""

import os
import socket
import struct
from dataclasses import field

from aeond.domain.runs import Owner
from aeond.errors import AeondError, OverloadedError, RefusedError
from aeond.frozen import frozen

_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid
_SO_PEERGROUPS = 59
_GROUPS_BYTES = 1024  # the most that Python's getsockopt takes: 256 groups


@frozen
class Peer:
    """The process at the other end of a Unix socket, as it was when it connected."""

    uid: int
    pid: int
    group_ids: frozenset[int]

    @property
    def owner(self) -> Owner:
        return Owner(self.uid, self.pid)


def peer_of(connection: socket.socket) -> Peer:
    """Who is at the other end. Of a process in more than 256 groups only the first one is told."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(credentials)
    try:
        groups = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, _GROUPS_BYTES)
    except OSError:
        groups = b""
    return Peer(uid, pid, frozenset({gid, *(group for (group,) in struct.iter_unpack("I", groups))}))


@frozen
class EntryRule:
    """Which users may come in, and how many at once.

    With neither user nor group ids everyone may whom the socket's file mode lets connect. The daemon's own
    user and root always may: they could read its memory anyway.
    """

    user_ids: frozenset[int] = field(default_factory=frozenset)
    group_ids: frozenset[int] = field(default_factory=frozenset)
    max_connections: int = 64
    handshake_seconds: float = 10.0

    def objection(self, peer: Peer, connections: int) -> AeondError | None:
        """Why this peer is not let in while so many connections are open; None when it is."""
        if not self._allows(peer):
            return RefusedError(
                f"User {peer.uid} may not use this daemon: ask its owner to add the user or one of its"
                " groups to the daemon's configuration.",
                reason="USER_REFUSED",
            )
        if connections >= self.max_connections:
            return OverloadedError(
                f"All {self.max_connections} connections are in use: close one, or try again later.",
                reason="TOO_MANY_CONNECTIONS",
            )
        return None

    def _allows(self, peer: Peer) -> bool:
        if not self.user_ids and not self.group_ids:
            return True
        return (
            peer.uid in (0, os.getuid())
            or peer.uid in self.user_ids
            or not self.group_ids.isdisjoint(peer.group_ids)
        )
