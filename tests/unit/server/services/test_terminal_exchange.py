"""The streams of AttachTerminal, between the wire and the port."""

import pytest

from aeond.api.v1 import tools_pb2 as pb
from aeond.capabilities.tools.served.terminals import RunTerminals
from aeond.errors import InvalidInputError
from aeond.ports.serving import TerminalKind, TerminalSize
from aeond.server.services.terminal_exchange import TerminalExchange

Request = pb.AttachTerminalRequest
SIZE = pb.TerminalSize(rows=10, columns=20)


def offer(run_id: str = "run", kind: str = "xterm", size: pb.TerminalSize | None = SIZE) -> Request:
    return Request(offer=pb.TerminalOffer(run_id=run_id, kind=kind, size=size))


def exchange(terminals: RunTerminals) -> TerminalExchange:
    return TerminalExchange(lambda run_id, kind: terminals.attach(1, run_id, kind))


async def test_both_directions_pass() -> None:
    """The offer lends the terminal; keys, sizes and screens pass; the end of the client's side is a hang-up."""
    terminals = RunTerminals()
    one = exchange(terminals)
    one.receive(offer(kind=""))
    one.receive(Request(typed=b"k"))
    one.receive(Request(size=pb.TerminalSize(rows=1, columns=2)))
    async with terminals.of(1, "run") as tool:
        assert tool.kind == TerminalKind("dumb", TerminalSize(10, 20))
        assert [await tool.read(), await tool.read()] == [TerminalSize(1, 2), b"k"]
        await tool.show(b"s")
        parts = one.parts()
        assert pb.AttachTerminalResponse.FromString((await anext(parts)).message).screen == b"s"
        one.finish(None)
        assert await tool.read() is None
        assert [part async for part in parts] == []


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([Request(typed=b"k")], "message"),
        ([Request()], "message"),
        ([offer(), offer("other")], "message"),
        ([offer(run_id="")], "offer.run_id"),
        ([offer(kind="\x1b[c")], "offer.kind"),
        ([offer(size=None)], "offer.size"),
        ([offer(size=pb.TerminalSize(rows=0, columns=1))], "offer.size.rows"),
        ([offer(), Request(size=pb.TerminalSize(rows=1, columns=10_001))], "size.columns"),
        ([offer(), Request(typed=b"k" * 65_537)], "typed"),
    ],
)
async def test_messages_out_of_form_are_refused(requests: list[pb.AttachTerminalRequest], field: str) -> None:
    """A message out of place or out of bounds ends the call with its field, and takes the terminal back."""
    one = exchange(RunTerminals())
    with pytest.raises(InvalidInputError) as caught:
        for request in requests:
            one.receive(request)
    assert caught.value.field == field
    one.finish(caught.value)
    with pytest.raises(InvalidInputError):
        [part async for part in one.parts()]
