"""Composing the tools of other authors."""

import socket

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.tool_unit import ToolUnit
from aeond.daemon.compose.tooling.tools import sandbox_for
from aeond.daemon.config.schema import SandboxKind
from tests.support.outsiders import as_outsider, open_folder


def test_a_unit_is_taken_where_it_can_be_used() -> None:
    """A socket of systemd is the sandbox for who may connect to it, and bubblewrap is for all others."""
    with open_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = folder / "tool.sock"
        assert isinstance(sandbox_for(SandboxKind.AUTO, address, ()), Bubblewrap)
        listener.bind(str(address))
        assert isinstance(sandbox_for(SandboxKind.AUTO, address, ()), ToolUnit)
        with as_outsider(address):
            assert isinstance(sandbox_for(SandboxKind.AUTO, address, ()), Bubblewrap)
            assert isinstance(sandbox_for(SandboxKind.UNIT, address, ()), ToolUnit)
