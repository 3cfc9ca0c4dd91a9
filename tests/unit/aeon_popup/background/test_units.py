"""The daemon's systemd units, with a program in place of systemctl."""

from pathlib import Path

import pytest

from aeon_popup.background import units


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of systemctl; without the program there is no systemd."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "systemctl"


def write(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("states", "asleep"),
    [
        (("active", "inactive"), True),
        (("active", "active"), False),
        (("active", "activating"), False),
        (("inactive", "inactive"), False),
    ],
)
async def test_a_daemon_sleeps_if_only_its_socket_is_active(
    systemctl: Path, states: tuple[str, str], asleep: bool
) -> None:
    """A daemon that is not running sleeps only if systemd listens on its socket: without that, no request starts it."""
    socket, service = states
    write(
        systemctl,
        f'[ "$*" = "--user is-active aeond.socket aeond.service" ] && echo {socket} && echo {service}',
    )
    assert await units.is_asleep(user=True) is asleep
    assert not await units.is_asleep(user=False)


async def test_without_systemd_nothing_sleeps_and_a_start_says_why(systemctl: Path) -> None:
    """Where there is no systemctl, a daemon is taken to run, and its start fails with the name of the program."""
    assert not systemctl.exists()
    assert not await units.is_asleep(user=True)
    assert "systemctl" in await units.start()


async def test_the_start_of_a_unit_that_does_not_exist_says_why(systemctl: Path) -> None:
    """A failed start has the first line of systemd's explanation; a successful one has no problem."""
    write(systemctl, "echo Unit not found. >&2; exit 5")
    assert await units.start() == "systemctl --user start aeond.service: Unit not found."
    write(systemctl, "exit 0")
    assert await units.start() == ""
