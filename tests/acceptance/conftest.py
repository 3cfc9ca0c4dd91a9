"""The real daemon, for tests that need nothing but it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.ledgers import TOOL_FILE, Gate, Ledger


@dataclass(frozen=True)
class Stage:
    """A daemon with the ledger's tools, its ledger, and a workspace."""

    daemon: DaemonProcess
    ledger: Ledger
    workspace: Path

    @property
    def socket(self) -> str:
        return str(self.daemon.socket)

    def gate(self, name: str = "gate") -> Gate:
        return Gate(self.daemon.folder / name)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A daemon that is READY, with a scripted model that has nothing to say."""
    with daemon_folder() as folder:
        workspace = folder / "workspace"
        workspace.mkdir()
        ledger = Ledger(folder / "ledger")
        daemon = DaemonProcess(folder, {"tools": {"files": [str(TOOL_FILE)]}})
        daemon.environment["AEOND_LEDGER"] = str(ledger.path)
        with daemon:
            yield Stage(daemon, ledger, workspace)
