"""A desktop session for all tests of this folder, and a daemon with a scripted model for those that need one."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon_process import DaemonProcess, daemon_folder
from tests.support.desktop_session import Popup, XSession, armed_popup, desktop_session, what_is_missing
from tests.support.ledgers import Gate
from tests.support.popup_script import script_with_gate
from tests.support.stages import Stage, staged

MISSING = what_is_missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here needs a desktop."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.desktop)
            if MISSING:
                item.add_marker(pytest.mark.skip(reason=f"missing here: {MISSING}"))


@pytest.fixture(scope="session")
def session() -> Iterator[XSession]:
    """A display with a window manager and a bus."""
    with desktop_session() as made:
        yield made


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with daemon_folder() as made:
        yield made


@pytest.fixture(scope="module")
def stage(folder: Path) -> Iterator[Stage]:
    """A daemon whose model answers the requests of tests/support/popup_script.py."""
    with staged(folder, script=script_with_gate(folder / "gate")) as made:
        yield made


@pytest.fixture(scope="module")
def one_gate(stage: Stage) -> Gate:
    return stage.gate()


@pytest.fixture
def gate(one_gate: Gate) -> Iterator[Gate]:
    """Holds the step of the request GATE. No step of a test waits at it in the next one."""
    yield one_gate
    one_gate.clear()


@pytest.fixture
def daemon(stage: Stage) -> DaemonProcess:
    return stage.daemon


@pytest.fixture
def popup(session: XSession, stage: Stage) -> Iterator[Popup]:
    """A popup that waits for its hotkey."""
    with armed_popup(session, stage.daemon.socket) as made:
        yield made


@pytest.fixture
def lonely(session: XSession, tmp_path: Path) -> Iterator[Popup]:
    """A popup without a daemon."""
    assert not os.path.exists(tmp_path / "none.sock")
    with Popup(session, tmp_path / "none.sock") as made:
        made.wait_for("armed")
        yield made
