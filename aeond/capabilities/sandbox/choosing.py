"""Selects the sandbox: systemd if its socket is accessible, else bubblewrap, and never a weaker one unless
configured.
"""

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from aeond.capabilities.sandbox.bubblewrap import Bubblewrap
from aeond.capabilities.sandbox.conversing import Sandbox
from aeond.capabilities.sandbox.tool_unit import ToolUnit


class Choice(StrEnum):
    """The configured sandbox."""

    AUTO = "auto"
    BWRAP = "bwrap"
    UNIT = "unit"


def sandbox_for(choice: Choice, unit_socket: Path, hidden: Sequence[Path]) -> Sandbox:
    """The sandbox for this choice on this machine. `hidden` are files and folders that no tool may see."""
    if choice is Choice.UNIT or (choice is Choice.AUTO and os.access(unit_socket, os.W_OK)):
        return ToolUnit(unit_socket, hidden)
    return Bubblewrap(hidden=hidden)
