"""Calls that only the administrative socket accepts, because they affect all users."""

from aeond.domain.runs.run import Caller
from aeond.errors import RefusedError


def require_admin(caller: Caller, action: str) -> None:
    """RefusedError (reason ADMIN_ONLY) unless the caller connected through the administrative socket."""
    if not caller.is_admin:
        raise RefusedError(
            f"Only an administrator may {action}: connect as root or as the daemon's account to the administrative"
            " socket, by default aeond-admin.sock in the folder of aeond.sock; aeonctl does so where it can.",
            reason="ADMIN_ONLY",
        )
