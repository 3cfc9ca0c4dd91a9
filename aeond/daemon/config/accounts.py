"""Resolves user and group names from the configuration."""

import grp
import pwd

from aeond.errors import InvalidInputError


def user_id(name: str) -> int:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise _unknown("user", name, "socket.allow_users") from None


def group_id(name: str) -> int:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise _unknown("group", name, "socket.group and socket.allow_groups") from None


def _unknown(what: str, name: str, where: str) -> InvalidInputError:
    return InvalidInputError(
        f"unknown {what} {name!r} in {where}: correct the name, or create the {what}", reason="CONFIG_INVALID"
    )
