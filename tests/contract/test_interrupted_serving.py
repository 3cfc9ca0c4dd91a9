"""Programs that serve tools and are interrupted."""

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from aeond_client import Client, ServedTools, tool
from aeond_client.serving import tool_stream
from tests.support.aeonctl import environment
from tests.support.daemon_process import DaemonProcess, daemon_folder

SECONDS = 30.0
INTERRUPTED = """
import signal, sys, threading
from aeond_client import serve_tools, tool

@tool(effect="read")
def interrupted() -> None:
    'Is never called.'

def interrupt():
    # The signal reaches this thread; the main one, which waits, is not woken by the system.
    sys.stdin.readline()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt, daemon=True).start()
serve_tools([interrupted], socket=sys.argv[1])
"""


@tool(effect="read")
def interrupted() -> None:
    """Is never called."""


@pytest.fixture(scope="module")
def daemon() -> Iterator[DaemonProcess]:
    """A real daemon with a scripted model."""
    with daemon_folder() as folder, DaemonProcess(folder) as daemon:
        yield daemon


def test_ctrl_c_right_after_the_offer_withdraws_it(
    daemon: DaemonProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is interrupted before it knows that its tools are registered has withdrawn them when it goes on."""
    wait = tool_stream._wait_interruptibly

    def interrupt(event: threading.Event, seconds: float) -> None:
        wait(event, seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr(tool_stream, "_wait_interruptibly", interrupt)
    with pytest.raises(KeyboardInterrupt), ServedTools([interrupted], socket=daemon.socket):
        pytest.fail("it was not interrupted")
    with Client(daemon.socket) as client:
        assert "interrupted" not in {found.name for found in client.list_tools()}


def test_ctrl_c_counts_whichever_thread_it_reaches(daemon: DaemonProcess) -> None:
    """A program that serves tools ends in good order also if the system hands Ctrl-C to another thread than its main one."""
    with (
        Client(daemon.socket) as client,
        subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED, str(daemon.socket)],
            env=environment(),
            stdin=subprocess.PIPE,
            text=True,
        ) as program,
    ):
        try:
            while "interrupted" not in {found.name for found in client.list_tools()}:
                pass
            program.communicate("\n", timeout=SECONDS)
        finally:
            program.kill()
        assert program.returncode == 0
        # The daemon notices the end of the stream by itself.
        while "interrupted" in {found.name for found in client.list_tools()}:
            pass
