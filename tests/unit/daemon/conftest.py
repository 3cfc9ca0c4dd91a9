"""Fixtures for tests of several parts of the daemon."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def journald(tmp_path: Path) -> Iterator[socket.socket]:
    """A socket that listens where journald does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "socket"))
        receiver.settimeout(5)
        yield receiver
