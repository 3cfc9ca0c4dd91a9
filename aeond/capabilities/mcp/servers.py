"""All configured MCP servers."""

from collections.abc import Mapping, Sequence

import anyio

from aeond.capabilities.mcp.server import Server, Show
from aeond.capabilities.mcp.settings import ServerSettings
from aeond.capabilities.mcp.tool import Registering
from aeond.concurrency import BackgroundTasks
from aeond.domain.runs.events import Event, RunEnded
from aeond.ports import Clock


class Servers(BackgroundTasks):
    """Starts, stops and replaces servers as the configuration changes, none at first. Used as a context, at whose end all
    are stopped."""

    def __init__(self, registry: Registering, clock: Clock, show: Show) -> None:
        self._registry = registry
        self._clock = clock
        self._show = show
        self._running: dict[str, tuple[Server, anyio.CancelScope]] = {}

    @property
    def states(self) -> Mapping[str, str]:
        """By name: why a server is not connected, "" if it is."""
        return {name: server.state for name, (server, _) in self._running.items()}

    def adopt(self, settings: Sequence[ServerSettings], accepted: Sequence[str]) -> None:
        """Starts new servers, stops those that are gone, and replaces those that are reached in another way. Failed
        ones start again."""
        wanted = {one.name: one for one in settings}
        for name, (server, scope) in list(self._running.items()):
            if name in wanted and wanted[name].identity == server.settings.identity and not server.failed:
                server.adopt(wanted.pop(name), accepted)
            else:
                scope.cancel()
                server.withdraw()
                self._running.pop(name)
        for name, one in wanted.items():
            server = Server(one, accepted, self._registry, self._clock, self._show)
            self._running[name] = server, anyio.CancelScope()
            self._tasks.start_soon(self._run, *self._running[name])

    async def settle(self, seconds: float) -> None:
        """Returns once every server is connected or has failed once, at most after so many seconds."""
        with anyio.move_on_after(seconds):
            for server, _ in tuple(self._running.values()):
                await server.settled.wait()

    def hear(self, events: Sequence[Event]) -> None:
        """Stops the calls of runs that have ended."""
        for event in events:
            if isinstance(event.kind, RunEnded):
                for server, _ in self._running.values():
                    server.forget_run(event.run_id)

    async def _run(self, server: Server, scope: anyio.CancelScope) -> None:
        with scope:
            await server.run()
