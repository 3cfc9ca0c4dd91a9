"""Calls that only administrators may make."""

import pytest

from aeond.domain.runs.run import Caller, Owner
from aeond.errors import RefusedError
from aeond.server.services.administration import require_admin


def test_the_socket_makes_an_administrator_and_not_the_user() -> None:
    """Root is refused on the main socket with the name of the right one; an ordinary user is admitted on that one."""
    require_admin(Caller(Owner(1000, 1), is_admin=True), "unload the model")
    with pytest.raises(RefusedError, match=r"unload the model: .* aeond-admin[.]sock") as raised:
        require_admin(Caller(Owner(0, 1)), "unload the model")
    assert raised.value.reason == "ADMIN_ONLY"
