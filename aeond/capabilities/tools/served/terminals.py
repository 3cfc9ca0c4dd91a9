"""Terminals that clients lend to their runs, each between one client and one call."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio

from aeond.concurrency import Changes
from aeond.errors import AlreadyExistsError, OverloadedError, ToolError
from aeond.ports.serving import TerminalKind, TerminalSize

WAIT_SECONDS: Final = 60.0
MAX_TERMINALS: Final = 8  # of one user
MAX_TYPED_BYTES: Final = 1 << 20  # that the tool has not read
MAX_SHOWN_BYTES: Final = 256 << 10  # that the client has not read


class RunTerminal:
    """Both ends of one terminal."""

    def __init__(self, kind: TerminalKind) -> None:
        self.kind = kind
        self.borrowed = False
        self._typed = bytearray()
        self._size: TerminalSize | None = None
        self._shown: deque[bytes] = deque()
        self._shown_bytes = 0
        self._hung_up = False
        self._returned = False
        self._changes = Changes()

    # ------------------------------------------------------------ the client's end

    def type(self, keys: bytes) -> None:
        if len(self._typed) + len(keys) > MAX_TYPED_BYTES:
            raise OverloadedError(
                "the program at this terminal does not read what is typed: wait, or close the terminal",
                reason="TERMINAL_FULL",
            )
        self._typed += keys
        self._changes.notify()

    def resize(self, size: TerminalSize) -> None:
        self._size = size
        self._changes.notify()

    async def next(self) -> bytes | None:
        while not self._shown:
            if self._returned or self._hung_up:
                return None
            await self._changes.next.wait()
        shown = b"".join(self._shown)
        self._shown.clear()
        self._shown_bytes = 0
        self._changes.notify()
        return shown

    def hang_up(self) -> None:
        self._hung_up = True
        self._shown.clear()
        self._changes.notify()

    # ------------------------------------------------------------ the tool's end

    async def read(self) -> bytes | TerminalSize | None:
        while True:
            if self._hung_up:
                return None
            if (size := self._size) is not None:
                self._size = None
                return size
            if self._typed:
                keys = bytes(self._typed)
                self._typed.clear()
                return keys
            await self._changes.next.wait()

    async def show(self, output: bytes) -> None:
        while self._shown_bytes >= MAX_SHOWN_BYTES and not self._hung_up:
            await self._changes.next.wait()
        if not self._hung_up and output:
            self._shown.append(output)
            self._shown_bytes += len(output)
            self._changes.notify()

    def give_back(self) -> None:
        """The call has ended: the client reads what is left, and no more."""
        self._returned = True
        self._changes.notify()


class RunTerminals:
    """The Terminals of all users. `wait_seconds` is how long a call waits for its client."""

    def __init__(self, wait_seconds: float = WAIT_SECONDS) -> None:
        self._wait_seconds = wait_seconds
        self._lent: dict[tuple[int, str], RunTerminal] = {}
        self._changes = Changes()

    def attach(self, uid: int, run_id: str, kind: TerminalKind) -> "Loan":
        if (uid, run_id) in self._lent:
            raise AlreadyExistsError(
                "the run has a terminal already: close that one first",
                reason="TERMINAL_ATTACHED",
                field="run_id",
            )
        if sum(owner == uid for owner, _ in self._lent) >= MAX_TERMINALS:
            raise OverloadedError(
                f"{MAX_TERMINALS} terminals of this user are in use: close one of them",
                reason="TOO_MANY_STREAMS",
            )
        terminal = self._lent[uid, run_id] = RunTerminal(kind)
        self._changes.notify()
        return Loan(terminal, lambda: self._forget(uid, run_id, terminal))

    @asynccontextmanager
    async def of(self, uid: int, run_id: str) -> AsyncIterator[RunTerminal]:
        terminal = await self._awaited(uid, run_id)
        terminal.borrowed = True
        try:
            yield terminal
        finally:
            terminal.give_back()
            self._forget(uid, run_id, terminal)

    async def _awaited(self, uid: int, run_id: str) -> RunTerminal:
        with anyio.move_on_after(self._wait_seconds):
            while True:
                terminal = self._lent.get((uid, run_id))
                if terminal is not None and not terminal.borrowed:
                    return terminal
                await self._changes.next.wait()
        raise ToolError(
            f"no client has lent its terminal to this run within {self._wait_seconds:g} seconds: use aeonctl aider",
            reason="TERMINAL_MISSING",
        )

    def _forget(self, uid: int, run_id: str, terminal: RunTerminal) -> None:
        if self._lent.get((uid, run_id)) is terminal:
            del self._lent[uid, run_id]


class Loan:
    """The client's end of a terminal, which is forgotten when it is hung up."""

    def __init__(self, terminal: RunTerminal, forget: Callable[[], None]) -> None:
        self._terminal = terminal
        self._forget = forget
        self.type = terminal.type
        self.resize = terminal.resize
        self.next = terminal.next

    def hang_up(self) -> None:
        self._terminal.hang_up()
        self._forget()
