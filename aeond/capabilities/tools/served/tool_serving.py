"""Registers the tools of clients for their users, and takes them out when the clients are gone."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from aeond.capabilities.tools.registry import RegisteredTool, Registry, check
from aeond.capabilities.tools.served.client_stream import ClientCalls, ClientStream
from aeond.capabilities.tools.served.client_tool import ClientTool
from aeond.capabilities.tools.served.terminals import RunTerminals
from aeond.concurrency import BackgroundTasks
from aeond.domain.tools import ToolResult, ToolSpec
from aeond.errors import AlreadyExistsError, InvalidInputError, OverloadedError
from aeond.ports import Clock
from aeond.ports.serving import OfferAccepted, ToClient

GRACE_SECONDS: Final = 10.0
MAX_TOOLS: Final = 256  # of one user
MAX_STREAMS: Final = 32  # of one user


class RegisteredServing(BackgroundTasks):
    """The ToolServing over a registry. `async with` runs the timers of clients that are away."""

    def __init__(self, registry: Registry, clock: Clock, grace_seconds: float = GRACE_SECONDS) -> None:
        self._registry = registry
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._users: dict[int, UserTools] = {}
        self.terminals = RunTerminals()

    def open(self, uid: int) -> "UserStream":
        user = self._users.get(uid)
        if user is None:
            user = self._users[uid] = UserTools(self._registry.of(uid), self._grace_seconds)
        return UserStream(user, self._remove_later)

    def _remove_later(self, stream: ClientStream, user: "UserTools") -> None:
        self._tasks.start_soon(self._remove_after_grace, stream, user)

    async def _remove_after_grace(self, stream: ClientStream, user: "UserTools") -> None:
        await self._clock.sleep_until(self._clock.monotonic() + self._grace_seconds)
        user.remove(user.names_of(stream))


class UserTools:
    """The tools that clients of one user serve, each with the last stream that offered it."""

    def __init__(self, registry: Registry, grace_seconds: float) -> None:
        self.calls = ClientCalls()
        self.open_streams = 0
        self._registry = registry
        self._grace_seconds = grace_seconds
        self._streams: dict[str, ClientStream] = {}

    def names_of(self, stream: ClientStream) -> list[str]:
        return [name for name, serving in self._streams.items() if serving is stream]

    def remove(self, names: Sequence[str]) -> None:
        for name in names:
            del self._streams[name]
            self._registry.remove(name)

    def replace(self, stream: ClientStream, source: str, specs: Sequence[ToolSpec]) -> None:
        """See ServedTools.offer."""
        prepared = [self._checked(index, source, spec) for index, spec in enumerate(specs)]
        replaced = self.names_of(stream)
        names = [tool.spec.name for tool in prepared]
        for index, name in enumerate(names):
            self._check_name(stream, name, index, taken=name in names[:index])
        if len({*self._streams} - {*replaced} | {*names}) > MAX_TOOLS:
            raise OverloadedError(
                f"the clients of a user may serve {MAX_TOOLS} tools together: offer fewer",
                reason="TOO_MANY_TOOLS",
                field="offer.tools",
            )
        stream.send(OfferAccepted(tuple(names)))
        self.remove([name for name in {*replaced, *names} if name in self._streams])
        for tool in prepared:
            self._streams[tool.spec.name] = stream
            self._registry.add(tool)
            self.calls.move(tool.spec.name, stream)

    def _checked(self, index: int, source: str, spec: ToolSpec) -> RegisteredTool:
        tool = ClientTool(
            replace(spec, source=f"client:{source}"),
            self.calls,
            lambda: self._streams.get(spec.name),
            self._grace_seconds,
        )
        try:
            return check(tool)
        except InvalidInputError as error:
            field = f"offer.tools[{index}].{error.field}"
            raise InvalidInputError(error.message, reason=error.reason, field=field) from error

    def _check_name(self, stream: ClientStream, name: str, index: int, *, taken: bool) -> None:
        serving = self._streams.get(name)
        away = serving is not None and (serving is stream or serving.closed)
        if taken or (not away and self._registry.get(name) is not None):
            by = "this offer" if taken else "another client" if serving is not None else "the daemon"
            raise AlreadyExistsError(
                f"{by} has a tool named {name} already: choose another name",
                reason="TOOL_EXISTS",
                field=f"offer.tools[{index}].name",
            )


class UserStream:
    """The ServedTools of one client."""

    def __init__(self, user: UserTools, remove_later: Callable[[ClientStream, UserTools], None]) -> None:
        if user.open_streams >= MAX_STREAMS:
            raise OverloadedError(
                f"{MAX_STREAMS} clients of this user serve tools already: end one of them",
                reason="TOO_MANY_STREAMS",
            )
        user.open_streams += 1
        self._user = user
        self._remove_later = remove_later
        self._stream = ClientStream()

    def offer(self, source: str, specs: Sequence[ToolSpec]) -> None:
        self._user.replace(self._stream, source, specs)

    def end_call(self, call_id: str, result: ToolResult) -> None:
        self._user.calls.deliver(call_id, result)

    async def next(self) -> ToClient | None:
        return await self._stream.next()

    def close(self) -> None:
        if self._stream.closed:
            return
        self._user.open_streams -= 1
        self._stream.ended = not self._user.names_of(self._stream)
        self._stream.close()
        self._user.calls.notify(self._stream)
        if not self._stream.ended:
            self._remove_later(self._stream, self._user)
