"""The configuration in force, and reloading it at run time."""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from aeond.daemon.config.schema import Config, SocketSection
from aeond.daemon.logs.setup import start_logging
from aeond.daemon.notify import Notifier
from aeond.domain.daemons import ConfigChanges
from aeond.errors import AeondError, InvalidInputError
from aeond.ports import Clock

# Keys and whole sections that can change at run time. All others are fixed by the composition at the start.
LIVE: Final = frozenset(
    {
        "approvals",
        "daemon.max_stored_mib_per_user",
        "daemon.stop_seconds",
        "egress",
        "log.format",
        "log.level",
        "mcp",
        "model.sleep_after_seconds",
        "model.unload_after_seconds",
        "policy",
        "runs",
        "socket.allow_groups",
        "socket.allow_users",
        "socket.max_connections",
        "socket.max_connections_per_user",
        "socket.max_request_mib_per_user",
        "tools.accepted",
        "tools.profiles",
    }
)

# Tables whose keys the user names: compared as a whole, because each may appear or disappear.
NAMED: Final = frozenset({"mcp", "tools.profiles"})

Adopt = Callable[[Config], None]

log = logging.getLogger("aeond.daemon")


class LiveConfig:
    """Holds the configuration in force. `read` returns the one in the file, or raises InvalidInputError.

    `adopt_by` registers the function that applies a new one.
    """

    def __init__(self, config: Config, read: Callable[[], Config], notifier: Notifier, clock: Clock) -> None:
        self._config = config
        self._hidden = frozenset[str]().union(*_own_files(config).values())
        self._read = read
        self._notifier = notifier
        self._clock = clock
        self._adopters: list[Adopt] = []

    @property
    def config(self) -> Config:
        return self._config

    def adopt_by(self, adopt: Adopt) -> None:
        """Passes each new configuration to `adopt`, which applies all of it or raises."""
        self._adopters.append(adopt)

    def reload(self) -> ConfigChanges:
        """Reads the file and applies the keys that can change at run time; reports them, and the keys that
        need a restart.

        InvalidInputError (reason CONFIG_INVALID) if the file is invalid, or has no access list any more;
        nothing has changed then.
        """
        self._notifier.reloading(self._clock.monotonic())
        try:
            changes = self._adopt(self._read())
        except AeondError as error:
            log.error(  # noqa: TRY400 - a mistake in a file, and no bug
                "the configuration is unchanged: %s", error.message, extra={"kind": "config_refused"}
            )
            raise
        finally:
            self._notifier.ready()
        log.info(
            "the configuration was reloaded: changed %s; needs a restart: %s",
            ", ".join(changes.changed_keys) or "nothing",
            ", ".join(changes.restart_keys) or "nothing",
            extra={"kind": "config_reloaded"},
        )
        return changes

    def _adopt(self, wanted: Config) -> ConfigChanges:
        if _restricts(self._config.socket) and not _restricts(wanted.socket):
            # A file that was emptied, or cut by an editor, must not open the daemon to more users.
            raise InvalidInputError(
                "socket.allow_users and socket.allow_groups are no longer in the file: add them again, or restart"
                " the daemon to admit every user who can access the socket",
                reason="CONFIG_INVALID",
            )
        old, new = values_of(self._config), values_of(wanted)
        differing = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
        unhidden = {section for section, files in _own_files(wanted).items() if not files <= self._hidden}
        live = tuple(key for key in differing if _is_live(key) and key.partition(".")[0] not in unhidden)
        changed = _with(self._config, {key: new[key] for key in live})
        for adopt in self._adopters:
            adopt(changed)
        if any(key.startswith("log.") for key in live):
            start_logging(changed.log.level, changed.log.format, sys.stderr)
        self._config = changed
        return ConfigChanges(live, tuple(key for key in differing if key not in live))


def _own_files(config: Config) -> Mapping[str, frozenset[str]]:
    """The files that a section which can change at run time names and that no tool may see. They are hidden as of the
    start: a section that names another one needs a restart as a whole, because a part of it is a setting that was never written.
    """
    return {
        "policy": frozenset(filter(None, (config.policy.file,))),
        "mcp": frozenset(filter(None, (one.key_file for one in config.mcp.values()))),
    }


def _restricts(socket: SocketSection) -> bool:
    """Whether only listed users may connect."""
    return bool(socket.allow_users or socket.allow_groups)


def values_of(config: Config) -> dict[str, Any]:
    """Every key, prefixed with its sections, and its value."""
    return dict(_values(config.model_dump(), ""))


def _values(section: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    values: list[tuple[str, Any]] = []
    for key, value in section.items():
        if isinstance(value, dict) and name + key not in NAMED:
            values += _values(value, f"{name}{key}.")
        else:
            values.append((name + key, value))
    return values


def _is_live(key: str) -> bool:
    parts = key.split(".")
    return any(".".join(parts[:count]) in LIVE for count in range(1, len(parts) + 1))


def _with(config: Config, values: Mapping[str, Any]) -> Config:
    """The configuration with other values for these keys."""
    sections = config.model_dump()
    for name, value in values.items():
        *path, key = name.split(".")
        section = sections
        for part in path:
            section = section[part]
        section[key] = value
    return Config.model_validate(sections)
