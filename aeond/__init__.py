"""aeond: a bounded AI orchestration kernel as a Linux daemon.

Entry point: `aeond.daemon.main`; read `aeond.ports` first.
Must not know its clients: `aeond_client` and `aeon_cli` import the contract in `aeond.api`, nothing else.
"""

__version__ = "0.2.0"
