"""The listening sockets inherited from a service manager."""

import os
from typing import Final

from aeond.errors import InvalidInputError
from aeond.frozen import frozen

FIRST_DESCRIPTOR: Final = 3  # the first descriptor passed by systemd; see sd_listen_fds(3)
ADMIN_NAME: Final = "admin"  # FileDescriptorName= of the administrative socket


@frozen
class Inherited:
    """The descriptors of listening sockets that a service manager created; None: the daemon creates the socket."""

    main: int | None = None
    admin: int | None = None


NONE_INHERITED: Final = Inherited()


def inherited_descriptors() -> Inherited:
    """The descriptors of the listening sockets: the one that is named `admin`, and the one that is not.

    Removes the service manager's variables from the environment and marks the descriptors close-on-exec: an
    engine must not keep the sockets open. InvalidInputError (reason SOCKET_COUNT) if more than one of either was
    passed.
    """
    count = os.environ.pop("LISTEN_FDS", "")
    process = os.environ.pop("LISTEN_PID", "")
    names = os.environ.pop("LISTEN_FDNAMES", "").split(":")
    if not count.isdecimal() or process != str(os.getpid()):
        return Inherited()
    descriptors: dict[bool, list[int]] = {True: [], False: []}
    for place in range(int(count)):
        descriptor = FIRST_DESCRIPTOR + place
        os.set_inheritable(descriptor, False)
        descriptors[names[place : place + 1] == [ADMIN_NAME]].append(descriptor)
    for is_admin, unit in ((False, "aeond.socket"), (True, "aeond-admin.socket")):
        if len(descriptors[is_admin]) > 1:
            raise InvalidInputError(
                f"{len(descriptors[is_admin])} sockets were passed, expected one: keep a single ListenStream= in {unit}",
                reason="SOCKET_COUNT",
            )
    return Inherited(main=_only(descriptors[False]), admin=_only(descriptors[True]))


def _only(descriptors: list[int]) -> int | None:
    return descriptors[0] if descriptors else None
