"""The names under which the gRPC server sees callers."""

from urllib.parse import quote

import pytest

from aeond.domain.runs.run import Caller, Owner
from aeond.errors import RefusedError
from aeond.server.door.callers import Callers

CALLER = Caller(Owner(1000, 7), is_admin=True)


def test_a_name_identifies_its_caller_until_the_connection_ends() -> None:
    """Each connection has a name of its own; afterwards the name identifies no caller."""
    callers = Callers()
    with callers.naming(CALLER) as first, callers.naming(Caller(Owner(1, 1))) as second:
        assert first.endswith("/1000/7")
        assert callers.of(f"unix-abstract:{quote(first)}") == CALLER
        assert callers.of(f"unix-abstract:{quote(second)}").owner.uid == 1
    for peer in (f"unix-abstract:{quote(first)}", "unix:", ""):
        with pytest.raises(RefusedError) as raised:
            callers.of(peer)
        assert raised.value.reason == "NOT_THROUGH_DOOR"
