"""The identity of a file's content."""

import os
from pathlib import Path

import pytest

from aeond.capabilities.tools.files.file_state import (
    MAX_CONTENT_BYTES,
    NO_FILE,
    identity_of,
    require_identity,
    state_of,
)


def opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY)


def test_content_is_its_identity(tmp_path: Path) -> None:
    """The state of a file has its content and permissions; equal contents have one identity."""
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "a").chmod(0o600)
    descriptor = opened(tmp_path / "a")
    state = state_of(descriptor)
    os.close(descriptor)
    assert (state.identity, state.size, state.mode, state.content) == (
        identity_of(b"text"),
        4,
        0o600,
        b"text",
    )


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    """A file beyond the limit has no content, and another identity once it is changed."""
    identities = []
    for number in range(2):
        with (tmp_path / "a").open("wb") as large:
            large.truncate(MAX_CONTENT_BYTES + 1)
        os.utime(tmp_path / "a", ns=(number, number))
        descriptor = opened(tmp_path / "a")
        state = state_of(descriptor)
        os.close(descriptor)
        assert (state.content, state.size) == (None, MAX_CONTENT_BYTES + 1)
        identities.append(state.identity)
    assert len(set(identities)) == 2


def test_another_identity_is_busy(tmp_path: Path) -> None:
    """A file that is missing, or has another content than expected, is an OSError; None expects anything."""
    (tmp_path / "a").write_bytes(b"text")
    folder = os.open(tmp_path, os.O_RDONLY)
    require_identity("a", folder, None)
    require_identity("a", folder, identity_of(b"text"))
    require_identity("none", folder, NO_FILE)
    for name, expected in (("a", identity_of(b"other")), ("a", NO_FILE), ("none", identity_of(b"text"))):
        with pytest.raises(OSError, match="changed by others"):
            require_identity(name, folder, expected)
    os.close(folder)


def test_a_file_that_states_no_size_is_read_whole() -> None:
    """The content is what can be read, whatever size the file states."""
    descriptor = opened(Path("/proc/self/status"))
    state = state_of(descriptor)
    os.close(descriptor)
    assert state.content is not None
    assert state.size == len(state.content) > 0
