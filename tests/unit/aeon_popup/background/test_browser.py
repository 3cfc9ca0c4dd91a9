"""Opening links where the desktop lacks a part of what opens them; tests/desktop/test_links.py has a desktop."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from aeon_popup.background.browser import open_link, service_command

LINK = "https://example.org"
SERVICE = [
    "systemd-run",
    "--user",
    "--quiet",
    "--collect",
    "--service-type=exec",
    "--property=ExitType=cgroup",
]


class EndedBus:
    """A connection whose bus ends while a call waits for its reply."""

    async def call(self, _message: object) -> None:
        raise EOFError


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in PATH, with setsid and an xdg-open that opens nothing."""
    found = shutil.which("setsid")
    assert found is not None
    (tmp_path / "setsid").symlink_to(found)
    (tmp_path / "xdg-open").write_text("#!/bin/sh\n")
    (tmp_path / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


async def test_where_no_program_can_be_started_nothing_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a session bus and without the programs that start another one, a link is not opened, and no error ends the popup."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await open_link(None, LINK) == ""


async def test_without_xdg_open_nothing_is_opened(programs: Path) -> None:
    """Where only setsid is there, which succeeds before it starts a program, no success is reported."""
    (programs / "xdg-open").unlink()
    assert await open_link(None, LINK) == ""


@pytest.mark.usefixtures("programs")
async def test_a_bus_that_ends_leaves_the_link_to_xdg_open() -> None:
    """A session bus that ends during the call to the portal does not end the popup: xdg-open gets the address."""
    ended: Any = EndedBus()
    assert await open_link(ended, LINK) == "xdg-open"


def test_a_service_gets_the_address_and_the_desktop() -> None:
    """Each `$` of the address is doubled, as a service's command has it, and all else is left; those of the desktop's variables that are set
    are passed on.
    """
    environment = {"DISPLAY": ":1", "WAYLAND_DISPLAY": "", "XAUTHORITY": "/run/x", "SECRET": "1"}
    assert service_command(f"{LINK}/a%20b?c=$HOME&d=${{x}}$$", environment) == (
        *SERVICE,
        "--setenv=DISPLAY=:1",
        "--setenv=XAUTHORITY=/run/x",
        "--",
        "xdg-open",
        f"{LINK}/a%20b?c=$$HOME&d=$${{x}}$$$$",
    )


@pytest.mark.usefixtures("programs")
async def test_an_address_that_no_program_can_take_is_not_opened() -> None:
    """An address that is too long for the arguments of a program is not opened, and no error ends the popup."""
    assert await open_link(None, f"{LINK}/{'a' * 200_000}") == ""
