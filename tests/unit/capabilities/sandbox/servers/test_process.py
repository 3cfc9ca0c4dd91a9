"""Programs that run in the sandbox until they are stopped: what others see of them, and what they may reach."""

import socket
import sys
from contextlib import suppress
from pathlib import Path

import anyio

from aeond.capabilities.sandbox.servers.process import ServerProgram, server_process
from tests.support.bubblewrap import needs_bubblewrap

pytestmark = needs_bubblewrap

SOCKETS = """
import socket
for family in ("AF_VSOCK", "AF_NETLINK", "AF_PACKET", "AF_ALG"):
    try:
        socket.socket(getattr(socket, family), socket.SOCK_RAW).close()
        print(family)
    except OSError as error:
        assert error.strerror == "Address family not supported by protocol", error
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(("127.0.0.1", server.getsockname()[1])).close()
with socket.socket(socket.AF_UNIX) as server:
    server.bind("\\0socket")
socket.socketpair()
print("end")
"""


async def said_by(ours: socket.socket, end: str) -> str:
    """The output of the program up to a text."""
    said = ""
    with anyio.fail_after(60):
        while end not in said:
            await anyio.wait_readable(ours)
            piece = ours.recv(4_096)
            assert piece, said
            said += piece.decode()
    return said


async def test_variables_are_not_in_command_lines() -> None:
    """A program gets its variables, empty ones included, and their values are in no command line of the machine."""
    value = "v4lue-of-a-variable"
    program = ServerProgram(
        ("sh", "-c", 'echo "$MARK,${EMPTY-unset},$HOME,end"; exec cat'), {"MARK": value, "EMPTY": ""}
    )
    async with server_process(program) as (ours, _):
        assert await said_by(ours, "end") == f"{value},,/tmp,end\n"
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # ended meanwhile
                assert value.encode() not in entry.read_bytes()


async def test_a_loopback_has_only_its_families() -> None:
    """A program with a loopback connects to itself by TCP and uses abstract Unix sockets, and opens no other kind of socket."""
    program = ServerProgram((sys.executable, "-I", "-c", SOCKETS), {}, loopback=True)
    async with server_process(program) as (ours, _):
        assert await said_by(ours, "end") == "end\n"
