import os
import socket

import pytest

from aeond.errors import OverloadedError, RefusedError
from aeond.server.door.access_control import AccessRule, Peer, peer_of

STRANGER = Peer(uid=os.getuid() + 4_242, pid=7, group_ids=frozenset({100, 200}))


def test_the_kernel_tells_who_is_at_the_other_end() -> None:
    """User, process and groups of a peer are those of the process that connected."""
    here, there = socket.socketpair()
    with here, there:
        peer = peer_of(here)
    assert (peer.uid, peer.pid) == (os.getuid(), os.getpid())
    assert peer.group_ids == {os.getgid(), *os.getgroups()}


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        (AccessRule(), True),
        (AccessRule(user_ids=frozenset({STRANGER.uid})), True),
        (AccessRule(user_ids=frozenset({STRANGER.uid + 1})), False),
        (AccessRule(group_ids=frozenset({200, 300})), True),
        (AccessRule(group_ids=frozenset({300})), False),
    ],
)
def test_users_and_groups_are_judged(entry: AccessRule, allowed: bool) -> None:
    """Without ids every user is admitted; otherwise only listed users and members of listed groups are."""
    objection = entry.objection(STRANGER, connections=0, own_connections=0)
    assert (objection is None) is allowed
    if objection is not None:
        assert isinstance(objection, RefusedError)
        assert objection.reason == "USER_REFUSED"
        assert str(STRANGER.uid) in objection.message


def test_the_own_user_and_root_always_come_in() -> None:
    """The daemon's own user and root are always admitted."""
    entry = AccessRule(user_ids=frozenset({STRANGER.uid}))
    for uid in (0, os.getuid()):
        assert entry.objection(Peer(uid, 1, frozenset()), connections=0, own_connections=0) is None


def test_too_many_connections_are_a_reason_to_wait() -> None:
    """At the connection limit a peer is asked to retry later, unless its user is not allowed in the first
    place.
    """
    entry = AccessRule(max_connections=2, user_ids=frozenset({1}))
    own = Peer(os.getuid(), 1, frozenset())
    assert entry.objection(own, connections=1, own_connections=0) is None
    assert isinstance(entry.objection(own, connections=2, own_connections=0), OverloadedError)
    assert isinstance(entry.objection(STRANGER, connections=2, own_connections=0), RefusedError)


def test_one_user_cannot_take_all_connections() -> None:
    """A user at the limit is refused with a message that names the user and the limit, while another user is admitted:
    one user used to be able to hold all connections of the daemon.
    """
    entry = AccessRule(max_connections=128, max_connections_per_user=32)
    objection = entry.objection(STRANGER, connections=32, own_connections=32)
    assert isinstance(objection, OverloadedError)
    assert objection.reason == "USER_CONNECTIONS"
    assert f"User {STRANGER.uid} has 32 open connections" in objection.message
    assert "socket.max_connections_per_user" in objection.message
    assert entry.objection(Peer(STRANGER.uid + 1, 1, frozenset()), connections=32, own_connections=0) is None
