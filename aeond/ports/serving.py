"""Ports of tools that clients serve: a client executes the calls in its own process."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from aeond.domain.tools import ToolCall, ToolResult, ToolSpec
from aeond.frozen import frozen


@frozen
class OfferAccepted:
    """The tools are registered under these names."""

    names: tuple[str, ...]


@frozen
class CallStarted:
    """A call for the client to execute, once. `run_id` and `step_id` are empty for a direct call."""

    call: ToolCall
    run_id: str
    step_id: str
    timeout_seconds: float


@frozen
class CallCancelled:
    """The result of this call is no longer needed."""

    call_id: str


@runtime_checkable
class LimitsItself(Protocol):
    """What a Tool has beside `execute` and `reconcile` if another process runs it."""

    @property
    def in_flight(self) -> int:
        """The number of its calls in progress, which the tool limits itself."""


ToClient = OfferAccepted | CallStarted | CallCancelled


class ServedTools(Protocol):
    """One stream of a client that serves tools."""

    def offer(self, source: str, specs: Sequence[ToolSpec]) -> None:
        """Replaces the tools of this stream by these, all or none.

        Tools of a stream of the same user that was lost move to this one, with their calls in progress.
        AlreadyExistsError (reason TOOL_EXISTS) if another tool has a name, OverloadedError (TOO_MANY_TOOLS),
        InvalidInputError as `ToolRegistry.register`, with the path of the field in `field`.
        """

    def end_call(self, call_id: str, result: ToolResult) -> None:
        """Delivers the result of a call. One that is not waited for (any more) is ignored."""

    async def next(self) -> ToClient | None:
        """The next message for the client; None once the stream was closed."""

    def close(self) -> None:
        """The stream has ended. Its tools stay for a while, in which the client can offer them again and deliver results.
        The client of a stream without tools is not waited for. Idempotent."""


class ToolServing(Protocol):
    """All clients that serve tools."""

    def open(self, uid: int) -> ServedTools:
        """A new stream of this user, whose runs alone see its tools. OverloadedError (reason TOO_MANY_STREAMS)."""
