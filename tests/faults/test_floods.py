"""Floods, signals, reloads and limits: the daemon stays small, and goes on answering calls."""

import gzip
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import grpc
import pytest

from aeond.api.v1 import daemon_pb2
from aeond.api.v1.daemon_pb2_grpc import DaemonServiceStub
from aeond.daemon.exits import Exit
from tests.support.daemon_process import DaemonProcess, running_daemon
from tests.support.header_flood import attacker, request
from tests.support.http2_frames import DATA, END_STREAM, PING, RST_STREAM, SETTINGS, frame, literal
from tests.support.repository import ROOT

MOST_MIB = 128
CALLS = 20
DEADLINE_SECONDS = 30.0  # speed is measured in benchmarks; here an answer must come, on a busy machine too
REMEMBERED = b"\x40\x03x-a\x0a" + b"v" * 10  # goes into HPACK's table, where it is entry 62
REPEATED = b"\xbe"  # entry 62 once more


@pytest.fixture
def daemon() -> Iterator[DaemonProcess]:
    with running_daemon() as daemon:
        yield daemon


@pytest.mark.parametrize(
    ("connections", "repetitions"),
    [pytest.param(12, 16_000, id="16,000 fields"), pytest.param(62, 24, id="as many as pass")],
)
def test_repeated_header_fields_cost_no_memory(
    daemon: DaemonProcess, connections: int, repetitions: int
) -> None:
    """Header blocks that repeat a field by HPACK's one-byte form, on 126 streams of many connections, leave the
    daemon below 128 MiB, and another client is answered meanwhile and after."""
    with ExitStack() as clients, ExitStack() as stack:
        client = clients.enter_context(client_of(daemon))
        accepted = 0
        for _ in range(connections):
            with suppress(OSError):  # the daemon may refuse the last ones, and may close any
                connection = stack.enter_context(attacker(daemon.socket))
                accepted += 1
                connection.sendall(request(1, REMEMBERED + REPEATED * repetitions))
                for number in range(1, 126):
                    connection.sendall(request(2 * number + 1, REPEATED * repetitions))
        answer(client)
        stack.close()
        answer(client)
    assert accepted > connections // 2
    assert peak_mib(daemon) < MOST_MIB


def flood_of(kind: str) -> Iterator[bytes]:
    """The frames of one connection."""
    if kind == "resets":
        for number in range(2_000):
            yield request(2 * number + 1) + frame(RST_STREAM, 0, 2 * number + 1, struct.pack("!I", 8))
    elif kind == "pings":
        yield frame(PING, payload=b"12345678") * 20_000
    elif kind == "settings":
        yield frame(SETTINGS) * 20_000
    else:
        bomb = gzip.compress(bytes(64 << 20))
        for number in range(20):
            yield request(2 * number + 1, literal("grpc-encoding", "gzip"))
            body = b"\1" + struct.pack("!I", len(bomb)) + bomb
            pieces = [body[start : start + 16_000] for start in range(0, len(body), 16_000)]
            for piece in pieces[:-1]:
                yield frame(DATA, 0, 2 * number + 1, piece)
            yield frame(DATA, END_STREAM, 2 * number + 1, pieces[-1])


@pytest.mark.parametrize("kind", ["resets", "pings", "settings", "compressed messages"])
def test_other_floods_cost_no_memory(daemon: DaemonProcess, kind: str) -> None:
    """Streams that are reset at once, pings, settings and messages that expand a thousandfold leave the daemon below
    128 MiB, and another client is answered."""
    with client_of(daemon) as client, ExitStack() as stack:
        for _ in range(4):
            connection = stack.enter_context(attacker(daemon.socket))
            connection.settimeout(
                1
            )  # a connection that the daemon closed or no longer reads has done its part
            with suppress(OSError):
                for data in flood_of(kind):
                    connection.sendall(data)
                    with suppress(BlockingIOError):
                        connection.recv(1 << 20, socket.MSG_DONTWAIT)
        answer(client)
    assert peak_mib(daemon) < MOST_MIB


def test_calls_are_answered_during_a_flood_of_headers(daemon: DaemonProcess) -> None:
    """While twelve connections open streams as fast as they can, another client's calls are answered in time."""
    command = [sys.executable, "-m", "tests.support.header_flood", str(daemon.socket)]
    with client_of(daemon) as client, subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as flood:
        try:
            assert flood.stdout is not None
            assert flood.stdout.readline() == b"flooding\n"
            answer(client)
            assert flood.poll() is None
        finally:
            flood.kill()
    assert peak_mib(daemon) < MOST_MIB


@contextmanager
def client_of(daemon: DaemonProcess) -> Iterator[DaemonServiceStub]:
    """Another client, which is connected."""
    with grpc.insecure_channel(daemon.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        client = DaemonServiceStub(channel)
        answer(client)
        yield client


def test_the_status_is_answered_without_a_free_descriptor(daemon: DaemonProcess) -> None:
    """A daemon that cannot open one more file still tells its status; it used to answer INTERNAL with a traceback."""
    with client_of(daemon) as client:
        in_use = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (in_use, in_use))
        answer(client)
    assert "Traceback" not in daemon.log


def test_signals_without_meaning_do_not_end_the_daemon(daemon: DaemonProcess) -> None:
    """A daemon that gets SIGALRM, SIGUSR1, SIGUSR2 or SIGPIPE answers on; SIGUSR1 is answered by a list of its tasks in the log."""
    with client_of(daemon) as client:
        for number in (signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
            os.kill(daemon.pid, number)
            answer(client)
    daemon.log_says("received SIGUSR1")
    daemon.log_says(f"ignored signal {signal.SIGUSR2}")
    assert daemon.stop() == Exit.OK


@pytest.mark.parametrize("kind", ["FIFO", "device", "folder", "emptied"])
def test_a_reload_survives_what_is_no_configuration(daemon: DaemonProcess, kind: str) -> None:
    """SIGHUP with a FIFO, a device, a folder or nothing as the configuration changes nothing: the listed users stay
    in force, calls are answered, and SIGTERM ends the daemon."""
    daemon.config_file.write_text(
        daemon.config_file.read_text().replace("[socket]", '[socket]\nallow_users = ["root"]')
    )
    os.kill(daemon.pid, signal.SIGHUP)
    daemon.log_says("changed socket.allow_users")
    daemon.config_file.unlink()
    if kind == "FIFO":
        os.mkfifo(daemon.config_file)
    elif kind == "device":
        daemon.config_file.symlink_to("/dev/zero")
    elif kind == "folder":
        daemon.config_file.mkdir()
    else:
        daemon.config_file.touch()
    os.kill(daemon.pid, signal.SIGHUP)
    daemon.log_says("the configuration is unchanged")
    with client_of(daemon) as client:
        answer(client)
    assert daemon.stop() == Exit.OK


def answer(client: DaemonServiceStub) -> None:
    """Some calls are answered, each within a generous deadline."""
    for _ in range(CALLS):
        assert client.GetStatus(daemon_pb2.GetStatusRequest(), timeout=DEADLINE_SECONDS).version


def peak_mib(daemon: DaemonProcess) -> int:
    """The most resident memory that the daemon has had since its start."""
    status = Path(f"/proc/{daemon.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) >> 10
