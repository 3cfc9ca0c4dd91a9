"""One stream of a client that serves tools, and the calls that it executes."""

from collections import deque
from typing import Final

import anyio

from aeond.concurrency import Changes
from aeond.domain.tools import ToolResult
from aeond.errors import OverloadedError, ToolError
from aeond.ports.serving import CallCancelled, CallStarted, OfferAccepted

MAX_CALLS: Final = 32  # of one user in progress


class ClientStream:
    """The messages for one client. `closed` says that the client has left, `ended` that it will not come back."""

    def __init__(self) -> None:
        self.closed = False
        self.ended = False
        self._messages: deque[OfferAccepted | CallCancelled | ClientCall] = deque()
        self._changed = anyio.Event()

    def send(self, message: "OfferAccepted | CallCancelled | ClientCall") -> None:
        self._messages.append(message)
        self._changed.set()

    async def next(self) -> OfferAccepted | CallCancelled | CallStarted | None:
        """The next message; None once the stream is closed. A call counts as sent from here on."""
        while not self.closed:
            if not self._messages:
                self._changed = anyio.Event()
                await self._changed.wait()
                continue
            message = self._messages.popleft()
            if not isinstance(message, ClientCall):
                return message
            message.sent = True
            return message.message
        return None

    def withdraw(self, call: "ClientCall") -> None:
        """Cancels a call that the client may have begun; takes back one that it has not."""
        if call.sent:
            self.send(CallCancelled(call.message.call.call_id))
        elif call in self._messages:
            self._messages.remove(call)

    def close(self) -> None:
        self.closed = True
        self._messages.clear()
        self._changed.set()


class ClientCall:
    """A call in progress. `sent` says that a client may have begun it."""

    def __init__(self, message: CallStarted, stream: ClientStream) -> None:
        self.message = message
        self.stream = stream
        self.sent = False
        self.result: ToolResult | None = None
        self.changes = Changes()
        stream.send(self)

    async def wait(self, grace_seconds: float) -> ToolResult | None:
        """The result; None if the client has left and has not come back within the grace time."""
        while self.result is None:
            away = self.stream.closed
            if self.stream.ended:
                return None
            with anyio.move_on_after(grace_seconds if away else None) as scope:
                await self._settled(away)
            if scope.cancelled_caught:
                return None
        return self.result

    async def _settled(self, away: bool) -> None:
        """Returns once there is a result, or the client has left or come back."""
        while self.result is None and self.stream.closed is away and not self.stream.ended:
            await self.changes.next.wait()


class ClientCalls:
    """The calls of one user in progress, by id."""

    def __init__(self) -> None:
        self._calls: dict[str, ClientCall] = {}

    def begin(self, message: CallStarted, stream: ClientStream) -> ClientCall:
        """OverloadedError (reason TOOLS_BUSY) if too many are in progress, ToolError (CALL_ID_IN_USE)."""
        call_id = message.call.call_id
        if call_id in self._calls:
            raise ToolError(
                f"a call with the id {call_id!r:.80} is in progress: use another id", reason="CALL_ID_IN_USE"
            )
        if len(self._calls) >= MAX_CALLS:
            raise OverloadedError(
                f"clients of this user execute {MAX_CALLS} calls already: try again when some have ended",
                reason="TOOLS_BUSY",
            )
        call = self._calls[call_id] = ClientCall(message, stream)
        return call

    def forget(self, call: ClientCall) -> None:
        """Ends the wait for the call's result."""
        del self._calls[call.message.call.call_id]
        if call.result is None and not call.stream.closed:
            call.stream.withdraw(call)

    def deliver(self, call_id: str, result: ToolResult) -> None:
        """The first result counts; one of a call that is not in progress is ignored."""
        call = self._calls.get(call_id)
        if call is not None and call.sent and call.result is None:
            call.result = result
            call.changes.notify()

    def move(self, tool: str, stream: ClientStream) -> None:
        """Moves the calls of a tool to the stream with which its client came back."""
        for call in self._calls.values():
            if call.message.call.tool == tool and call.stream.closed and not call.stream.ended:
                call.stream = stream
                if not call.sent:
                    stream.send(call)
                call.changes.notify()

    def notify(self, stream: ClientStream) -> None:
        """Wakes the calls of a stream that was closed."""
        for call in self._calls.values():
            if call.stream is stream:
                call.changes.notify()

    def __len__(self) -> int:
        return len(self._calls)
