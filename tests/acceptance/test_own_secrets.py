"""The daemon's secrets cannot be read by any path."""

from pathlib import Path

import pytest

from aeond_client.client import Client
from aeond_client.errors import RefusedError
from tests.support.daemon_process import DaemonProcess

SECRET = "7321-4404"


def test_no_client_gets_a_secret_by_a_tool(folder: Path) -> None:
    """No call reads the credentials, the key or the variables of the daemon, and none works among them."""
    credentials = folder / "credentials"
    credentials.mkdir()
    key = folder / "home" / "key"
    key.parent.mkdir()
    (key.parent / "notes").write_text("hello", encoding="utf-8")
    for file in (credentials / "hub", key):
        file.write_text(SECRET, encoding="utf-8")
        file.chmod(0o600)
    daemon = DaemonProcess(folder, {"remote": {"key_file": str(key)}})
    daemon.environment = {"CREDENTIALS_DIRECTORY": str(credentials), "KNOWN_TO_IT": SECRET}
    with daemon, Client(daemon.socket) as client:

        def read(path: Path | str, workspace: Path | str) -> str:
            return repr(client.call_tool("read_file", {"path": str(path)}, workspace=str(workspace)))

        process = f"/proc/{daemon.pid}"
        assert "hello" in read("notes", key.parent)
        for workspace in (folder, Path("/")):
            for path in (credentials / "hub", key, f"{process}/environ", "/proc/self/environ"):
                assert SECRET not in read(path, workspace)
        assert SECRET not in read("key", key.parent)
        assert SECRET not in repr(
            client.call_tool("search_files", {"text": SECRET[:4]}, workspace=str(folder))
        )
        for place in (credentials, process, "/proc/self", "/sys"):
            with pytest.raises(RefusedError, match="choose another workspace"):
                read("hub", place)
