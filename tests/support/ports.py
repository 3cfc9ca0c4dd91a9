"""Ports of the loopback interface for programs that are given one before they listen."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from socket import create_server
from typing import Final

# Below the ports that Linux gives to programs that ask for any, so that none is taken meanwhile.
_FIRST: Final = 20_000
_EACH: Final = 100
_WORKERS: Final = 120


def later_port() -> int:
    """A port that is free now, and that no other test is given before the program listens there: each worker has ports of its
    own, and gives each of them in turn.
    """
    for port in _PORTS:
        with suppress(OSError), create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("there is always a next one")


def _in_turn() -> Iterator[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = _FIRST + _EACH * (worker % _WORKERS)
    # Of two sessions of tests on a machine each begins at another place, most likely.
    return (first + place % _EACH for place in count(os.getpid()))


_PORTS: Final = _in_turn()
