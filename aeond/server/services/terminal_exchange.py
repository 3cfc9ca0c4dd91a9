"""The streams of AttachTerminal."""

import re
from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio

from aeond.api.v1 import tools_pb2 as pb
from aeond.errors import AeondError, InvalidInputError
from aeond.ports.serving import LentTerminal, TerminalKind, TerminalSize
from aeond.server.streaming import Part
from aeond.server.wire import checks

MAX_TYPED_BYTES: Final = 64 << 10  # in one message
MAX_CHARACTERS: Final = 10_000
_KIND: Final = re.compile(r"[A-Za-z0-9+._-]{0,64}")


class TerminalExchange:
    """The Exchange of AttachTerminal. `attach` lends a terminal to a run."""

    def __init__(self, attach: Callable[[str, TerminalKind], LentTerminal]) -> None:
        self._attach = attach
        self._terminal: LentTerminal | None = None
        self._failure: AeondError | None = None
        self._begun = anyio.Event()  # or ended before that

    def receive(self, request: pb.AttachTerminalRequest) -> None:
        match request.WhichOneof("message"), self._terminal:
            case "offer", None:
                offer = request.offer
                run_id = checks.word(offer.run_id, "offer.run_id")
                if not _KIND.fullmatch(offer.kind):
                    raise InvalidInputError(
                        "offer.kind must be a name as in TERM.", reason="UNPRINTABLE", field="offer.kind"
                    )
                checks.required(offer, "size", "offer.size")
                kind = TerminalKind(offer.kind or "dumb", _size(offer.size, "offer.size"))
                self._terminal = self._attach(run_id, kind)
                self._begun.set()
            case "typed", terminal if terminal is not None:
                checks.at_most(request.typed, "typed", MAX_TYPED_BYTES)
                terminal.type(request.typed)
            case "size", terminal if terminal is not None:
                terminal.resize(_size(request.size, "size"))
            case _:
                raise InvalidInputError(
                    "the first message must offer the terminal, later ones must not, and each must be set",
                    reason="OFFER_EXPECTED",
                    field="message",
                )

    def finish(self, failure: AeondError | None) -> None:
        self._failure = failure
        self.close()

    async def parts(self) -> AsyncIterator[Part]:
        await self._begun.wait()
        while self._terminal is not None and (screen := await self._terminal.next()) is not None:
            yield Part(pb.AttachTerminalResponse(screen=screen).SerializeToString())
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        self._begun.set()
        if self._terminal is not None:
            self._terminal.hang_up()


def _size(size: pb.TerminalSize, field: str) -> TerminalSize:
    return TerminalSize(
        checks.whole(size.rows, f"{field}.rows", 1, MAX_CHARACTERS),
        checks.whole(size.columns, f"{field}.columns", 1, MAX_CHARACTERS),
    )
