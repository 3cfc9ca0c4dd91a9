import os
import socket

import pytest

from aeond.errors import OverloadedError, RefusedError
from aeond.server.entry import EntryRule, Peer, peer_of

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
        (EntryRule(), True),
        (EntryRule(user_ids=frozenset({STRANGER.uid})), True),
        (EntryRule(user_ids=frozenset({STRANGER.uid + 1})), False),
        (EntryRule(group_ids=frozenset({200, 300})), True),
        (EntryRule(group_ids=frozenset({300})), False),
    ],
)
def test_users_and_groups_are_judged(entry: EntryRule, allowed: bool) -> None:
    """With no ids everybody may come in; otherwise whoever is named, or is in a group that is."""
    objection = entry.objection(STRANGER, connections=0)
    assert (objection is None) is allowed
    if objection is not None:
        assert isinstance(objection, RefusedError)
        assert objection.reason == "USER_REFUSED"
        assert str(STRANGER.uid) in objection.message


def test_the_own_user_and_root_always_come_in() -> None:
    """Whoever could read the daemon's memory anyway is not kept out."""
    entry = EntryRule(user_ids=frozenset({STRANGER.uid}))
    for uid in (0, os.getuid()):
        assert entry.objection(Peer(uid, 1, frozenset()), connections=0) is None


def test_too_many_connections_are_a_reason_to_wait() -> None:
    """At the cap a peer is told to try again later; one that is not allowed is told that first."""
    entry = EntryRule(max_connections=2, user_ids=frozenset({1}))
    own = Peer(os.getuid(), 1, frozenset())
    assert entry.objection(own, connections=1) is None
    assert isinstance(entry.objection(own, connections=2), OverloadedError)
    assert isinstance(entry.objection(STRANGER, connections=2), RefusedError)
