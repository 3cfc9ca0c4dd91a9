"""Ports of what clients lend to runs: tools, whose calls a client executes in its own process, and terminals."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
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
    """All clients that serve tools or lend terminals."""

    @property
    def terminals(self) -> "Terminals": ...

    def open(self, uid: int) -> ServedTools:
        """A new stream of this user, whose runs alone see its tools. OverloadedError (reason TOO_MANY_STREAMS)."""


@frozen
class TerminalSize:
    """The size in characters."""

    rows: int = 24
    columns: int = 80


@frozen
class TerminalKind:
    """A terminal as its client describes it; `name` is the value of TERM."""

    name: str = "dumb"
    size: TerminalSize = TerminalSize()


class LentTerminal(Protocol):
    """The client's end."""

    def type(self, keys: bytes) -> None:
        """Passes on what was typed. OverloadedError (reason TERMINAL_FULL) if the tool does not read."""

    def resize(self, size: TerminalSize) -> None:
        """Passes on the new size."""

    async def next(self) -> bytes | None:
        """What the screen shows next; None once the tool has ended or the terminal was hung up."""

    def hang_up(self) -> None:
        """The client takes its terminal back. Idempotent."""


class Terminal(Protocol):
    """The tool's end."""

    @property
    def kind(self) -> TerminalKind: ...

    async def read(self) -> bytes | TerminalSize | None:
        """What was typed, or the new size; None once the client has hung up."""

    async def show(self, output: bytes) -> None:
        """Shows output on the screen; waits while the client has much to read. Ignored after a hang-up."""


class Terminals(Protocol):
    """Terminals of clients, each lent to one run."""

    def attach(self, uid: int, run_id: str, kind: TerminalKind) -> LentTerminal:
        """Lends a terminal to a run of this user. AlreadyExistsError (reason TERMINAL_ATTACHED) if the run has one,
        OverloadedError (TOO_MANY_STREAMS)."""

    def of(self, uid: int, run_id: str) -> AbstractAsyncContextManager[Terminal]:
        """The terminal that this user has lent to the run, or lends to it within a minute. ToolError (reason
        TERMINAL_MISSING). After the block the client is sent no more."""
