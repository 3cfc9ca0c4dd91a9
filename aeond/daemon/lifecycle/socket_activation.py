"""The listening socket inherited from a service manager."""

import os
from typing import Final

from aeond.errors import InvalidInputError

FIRST_DESCRIPTOR: Final = 3  # the first descriptor passed by systemd; see sd_listen_fds(3)


def inherited_descriptor() -> int | None:
    """The descriptor of the listening socket; None if none was inherited.

    Removes the service manager's variables from the environment and marks the descriptor close-on-exec: an
    engine must not keep the socket open. InvalidInputError (reason SOCKET_COUNT) if more than one was passed.
    """
    count = os.environ.pop("LISTEN_FDS", "")
    process = os.environ.pop("LISTEN_PID", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if not count.isdecimal() or int(count) == 0 or process != str(os.getpid()):
        return None
    if int(count) != 1:
        raise InvalidInputError(
            f"{count} sockets were passed, expected one: keep a single ListenStream= in aeond.socket",
            reason="SOCKET_COUNT",
        )
    os.set_inheritable(FIRST_DESCRIPTOR, False)
    return FIRST_DESCRIPTOR
