"""Files that are read as a whole."""

import os
import socket
import stat
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from aeond.plain_files import read_plain


def test_a_file_is_read_with_what_is_known_of_it(tmp_path: Path) -> None:
    """Its bytes and its permissions come together, and a byte more than allowed tells that it is too long."""
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    path.chmod(0o640)
    facts, content = read_plain(path, 5)
    assert (stat.S_IMODE(facts.st_mode), content) == (0o640, b"12345")
    assert read_plain(path, 3)[1] == b"1234"


@pytest.mark.parametrize("kind", ["nothing", "folder", "fifo", "socket", "device"])
async def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str) -> None:
    """A path that is missing or not a regular file raises OSError with a message, without blocking."""
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    with anyio.fail_after(60), pytest.raises(OSError, match=r"\w") as refused:
        await anyio.to_thread.run_sync(read_plain, path, 10, abandon_on_cancel=True)
    assert refused.value.strerror
