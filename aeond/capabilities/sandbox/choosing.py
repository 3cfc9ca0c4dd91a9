"""Which sandbox: one of systemd where its socket is there, else bubblewrap, and never a weaker one unasked."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.conversing import Sandbox
from aeond.capabilities.sandbox.tool_unit import ToolUnit


class Choice(StrEnum):
    """What the configuration asks for."""

    AUTO = "auto"
    BWRAP = "bwrap"
    UNIT = "unit"


def sandbox_for(choice: Choice, unit_socket: Path, hidden: Sequence[Path]) -> Sandbox:
    """The sandbox that a choice means here. `hidden` are files and folders that no tool may see."""
    if choice is Choice.UNIT or (choice is Choice.AUTO and unit_socket.is_socket()):
        return ToolUnit(unit_socket, hidden)
    return Bubblewrap(hidden=hidden)
