"""Composes the tools of the web: what the configuration lets through the gate, and why a tool does not exist."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from aeond.capabilities.tools.registry import Registry
from aeond.daemon.config.network_sections import EgressSection
from aeond.daemon.config.paths import Paths
from aeond.daemon.config.schema import Config
from aeond.errors import InvalidInputError, ToolError
from aeond.ports import Tool

if TYPE_CHECKING:
    from aeond.capabilities.egress.gate import Gate
    from aeond.capabilities.hands.workshop import Workshop

WEB_TOOLS: Final = ("fetch_url", "http_request", "web_search")


class OwnWeb:
    """The tools of the web that the configuration in force permits. Pages are read in the sandbox of the `workshop`."""

    def __init__(self, workshop: "Workshop | None") -> None:
        self._workshop = workshop
        self._names: tuple[str, ...] = ()

    def tools(self, config: Config) -> Sequence[Tool]:
        """The tools that are configured; with none nothing of them is loaded. InvalidInputError (reason CONFIG_INVALID)."""
        gate, search = gates(config.egress)
        if gate is None and search is None:
            return ()
        from aeond.capabilities.hands.web.tool_set import web_tools

        return web_tools(gate, search, config.egress.search_url, self._workshop, config.tools.hands)

    def adopt(self, tools: Sequence[Tool], registry: Registry) -> None:
        """Registers these tools in place of the earlier ones. Requests in progress continue."""
        for name in self._names:
            registry.remove(name)
        for tool in tools:
            registry.register(tool)
        self._names = tuple(tool.spec.name for tool in tools)


def gates(section: EgressSection) -> "tuple[Gate | None, Gate | None]":
    """The gate for requests and the gate for searches, None for one that is not configured. InvalidInputError (reason
    CONFIG_INVALID) names the entry that is not a host."""
    if not (section.hosts or section.local or section.search_url):
        return None, None
    from aeond.capabilities.egress.gate import Gate
    from aeond.capabilities.egress.rules import EgressRules, host_pattern, host_port, server_rules

    for key, entries, compiled in (
        ("hosts", section.hosts, host_pattern),
        ("local", section.local, host_port),
    ):
        for entry in entries:
            try:
                compiled(entry)
            except ValueError as error:
                raise _invalid(key, f"{entry!r:.200} {error}") from error
    try:
        search = Gate(server_rules(section.search_url, local=True)) if section.search_url else None
    except ToolError as error:
        raise _invalid("search_url", error.message) from error
    rules = EgressRules.of(section.hosts, section.local)
    return Gate(rules) if section.hosts or section.local else None, search


def why_no_web(config: Config, paths: Paths) -> Mapping[str, str]:
    """By name of each tool of the web that does not exist here, why. InvalidInputError as at a start."""
    from aeond.daemon.compose.tooling.sandbox_layers import why_no_programs

    gate, search = gates(config.egress)
    missing: dict[str, str] = {}
    if gate is None:
        missing |= dict.fromkeys(WEB_TOOLS[:2], "egress.hosts and egress.local are empty")
    elif why := why_no_programs(config.tools.sandbox, paths.tool_unit):
        missing["fetch_url"] = f"pages are read in the sandbox, and {why}"
    if search is None:
        missing["web_search"] = "egress.search_url is empty"
    return missing


def _invalid(key: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"egress.{key}: {why}", reason="CONFIG_INVALID", field=f"egress.{key}")
