"""Access control: peer identity from the Linux kernel, and the rule that is applied to it."""

import os
import socket
import struct
from dataclasses import field

from aeond.domain.runs.run import Owner
from aeond.errors import AeondError, OverloadedError, RefusedError
from aeond.frozen import frozen
from aeond.user_rights import UserRights

_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid
_SO_PEERGROUPS = 59
_GROUPS_BYTES = 1024  # the maximum that Python's getsockopt returns: 256 groups


@frozen
class Peer:
    """The process at the other end of a Unix socket, as of the time it connected."""

    uid: int
    pid: int
    group_ids: frozenset[int]
    rights: UserRights | None = None  # None: not all of its groups are known

    @property
    def owner(self) -> Owner:
        return Owner(self.uid, self.pid, self.rights)


def peer_of(connection: socket.socket) -> Peer:
    """The peer of a connection. For a process in more than 256 groups only the primary group is
    known."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(credentials)
    try:
        groups = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, _GROUPS_BYTES)
    except OSError:
        return Peer(uid, pid, frozenset({gid}))
    group_ids = tuple(group for (group,) in struct.iter_unpack("I", groups))
    return Peer(uid, pid, frozenset({gid, *group_ids}), UserRights(uid, gid, group_ids))


@frozen
class AccessRule:
    """The users that may connect, and the maximum number of connections in all and of one user.

    Without user and group ids, every user may connect whom the socket's file mode admits. The daemon's own
    user and root may always connect: they can read its memory anyway.
    """

    user_ids: frozenset[int] = field(default_factory=frozenset)
    group_ids: frozenset[int] = field(default_factory=frozenset)
    max_connections: int = 128
    max_connections_per_user: int = 32
    handshake_seconds: float = 10.0

    def objection(self, peer: Peer, connections: int, own_connections: int) -> AeondError | None:
        """The error for this peer with that many connections open, in all and of its user; None if it is admitted."""
        if not self._allows(peer):
            return RefusedError(
                f"User {peer.uid} may not use this daemon: add the user to socket.allow_users or one of"
                " its groups to socket.allow_groups.",
                reason="USER_REFUSED",
            )
        if own_connections >= self.max_connections_per_user:
            return OverloadedError(
                f"User {peer.uid} has {own_connections} open connections, the limit for one user: close one, or have an"
                " administrator raise socket.max_connections_per_user.",
                reason="USER_CONNECTIONS",
            )
        if connections >= self.max_connections:
            return OverloadedError(
                f"All {self.max_connections} connections of the daemon are in use by several users: try again later, or"
                " have an administrator raise socket.max_connections.",
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
