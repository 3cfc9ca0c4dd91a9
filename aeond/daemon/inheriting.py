"""The listening socket that a service manager bound for us and handed over at the start."""

import os
from typing import Final

from aeond.errors import InvalidInputError

FIRST_DESCRIPTOR: Final = 3  # where systemd begins; see sd_listen_fds(3)


def inherited_descriptor() -> int | None:
    """The descriptor of the socket to listen on; None when nobody handed one over.

    Takes what the service manager put into the environment out of it, and keeps the descriptor from
    children: an engine must not hold the socket open. InvalidInputError (reason SOCKET_COUNT) when more
    than one was handed over.
    """
    count = os.environ.pop("LISTEN_FDS", "")
    process = os.environ.pop("LISTEN_PID", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if not count.isdecimal() or int(count) == 0 or process != str(os.getpid()):
        return None
    if int(count) != 1:
        raise InvalidInputError(
            f"{count} sockets were handed over, and one is wanted: leave one ListenStream= in aeond.socket",
            reason="SOCKET_COUNT",
        )
    os.set_inheritable(FIRST_DESCRIPTOR, False)
    return FIRST_DESCRIPTOR
