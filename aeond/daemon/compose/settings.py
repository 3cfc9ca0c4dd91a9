"""The configuration as the settings of components, and the sockets that it names."""

import grp
import pwd
import socket
from contextlib import AbstractContextManager

from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config
from aeond.domain.runs.budgets import Budget
from aeond.errors import InvalidInputError
from aeond.server.door.access_control import AccessRule
from aeond.server.door.listening import bound_socket, inherited_socket
from aeond.service.run_use_cases import Bounds
from aeond.service.runs.run_queue import RunLimits


def run_limits(config: Config) -> RunLimits:
    return RunLimits(
        running=config.runs.max_running,
        waiting=config.runs.max_waiting,
        running_per_user=config.runs.max_running_per_user,
        waiting_per_user=config.runs.max_waiting_per_user,
        attend_seconds=config.approvals.attend_seconds,
    )


def run_bounds(config: Config) -> Bounds:
    return Bounds(
        default=Budget(**config.runs.budget.model_dump()),
        limit=Budget(**config.runs.budget_limit.model_dump()),
    )


def access_rule(config: Config) -> AccessRule:
    """InvalidInputError (reason CONFIG_INVALID) for an unknown user or group."""
    return AccessRule(
        user_ids=frozenset(map(_user_id, config.socket.allow_users)),
        group_ids=frozenset(map(_group_id, config.socket.allow_groups)),
        max_connections=config.socket.max_connections,
        max_connections_per_user=config.socket.max_connections_per_user,
    )


def _user_id(name: str) -> int:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise _unknown("user", name, "socket.allow_users") from None


def _group_id(name: str) -> int:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise _unknown("group", name, "socket.group and socket.allow_groups") from None


def _unknown(what: str, name: str, where: str) -> InvalidInputError:
    return InvalidInputError(
        f"unknown {what} {name!r} in {where}: correct the name, or create the {what}", reason="CONFIG_INVALID"
    )


def listener_of(
    config: Config, paths: Paths, descriptor: int | None
) -> AbstractContextManager[socket.socket]:
    if descriptor is not None:
        return inherited_socket(descriptor)
    group = config.socket.group
    return bound_socket(paths.socket, int(config.socket.mode, 8), _group_id(group) if group else None)


def admin_listener_of(paths: Paths, descriptor: int | None) -> AbstractContextManager[socket.socket]:
    return bound_socket(paths.admin_socket) if descriptor is None else inherited_socket(descriptor)
