"""A lock between processes that download the same model."""

import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from aeond.errors import LLMError

LOCK_POLL_SECONDS = 0.2
LOCK_POLLS = 3 * 60 * 60 * 5  # three hours: the other download may have a slow line


@asynccontextmanager
async def locked(path: Path) -> AsyncIterator[None]:
    """Holds the file's lock against every other process; waits for at most three hours."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        for _ in range(LOCK_POLLS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await anyio.sleep(LOCK_POLL_SECONDS)
            else:
                break
        else:
            raise LLMError(
                "Another program has been downloading this model for hours.", reason="MODEL_UNAVAILABLE"
            )
        yield
    finally:
        os.close(descriptor)
