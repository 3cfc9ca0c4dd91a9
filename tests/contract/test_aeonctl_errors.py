"""Errors and exit codes of aeonctl."""

import os
import socket
import sys
from pathlib import Path

import anyio
import grpc
import pytest

from tests.support import wire_events
from tests.support.aeonctl import Printed, Run, environment, finished, script
from tests.support.scripted_daemon import ScriptedDaemon


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("ask",),
        ("ask", "--max-steps", "-1", "x"),
        ("ask", "--plan", "/nowhere.toml"),
        ("show",),
        ("decide", "run", "perhaps"),
        ("call", "echo", "what"),
        ("fork", "run", "--after", "2", "--step", "s1"),
        ("nothing",),
        ("--nothing",),
        ("completion", "tcsh"),
    ],
)
async def test_wrong_usage_is_exit_code_2(
    aeonctl: Run, daemon: ScriptedDaemon, words: tuple[str, ...]
) -> None:
    """A command that cannot be understood does nothing and says what is wrong with it."""
    printed = await aeonctl(*words)
    assert (printed.code, printed.out, daemon.runs.runs) == (2, "", {})
    assert printed.err


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"\xff\xfe", "not valid UTF-8 at byte 1"),
        (b"x" * (3 << 20), "longer than 2 MiB"),
        (b" \n", "is empty"),
    ],
)
async def test_a_request_that_is_no_text_is_refused(
    aeonctl: Run, daemon: ScriptedDaemon, stdin: bytes, words: str
) -> None:
    """Binary, huge and empty standard input make no run."""
    printed = await aeonctl("ask", stdin=stdin)
    assert (printed.code, words in printed.err, daemon.runs.runs) == (2, True, {})


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, 2),
        (grpc.StatusCode.NOT_FOUND, 1),
        (grpc.StatusCode.PERMISSION_DENIED, 7),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, 8),
        (grpc.StatusCode.INTERNAL, 1),
    ],
)
async def test_each_kind_of_refusal_has_its_exit_code(
    aeonctl: Run, daemon: ScriptedDaemon, status: grpc.StatusCode, code: int
) -> None:
    """A script can tell a wrong request from a busy daemon and from a missing right."""
    daemon.runs.refusals = [(status, "SOME_REASON")]
    printed = await aeonctl("ask", "What?")
    assert (printed.code, printed.out, printed.err) == (code, "", "aeonctl: Refused: SOME_REASON.\n")


async def test_a_value_that_is_no_text_is_refused(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """Binary standard input is remembered under no key, and that is said in plain words."""
    printed = await aeonctl("memory", "set", "key", "-", stdin=b"\xff\xfe")
    assert (printed.code, "The value on standard input is not valid UTF-8" in printed.err) == (2, True)
    assert daemon.memory.values == {}


@pytest.mark.parametrize(
    "words", [("ask", "--workspace", "b\udcff", "x"), ("show", "b\udcff"), ("memory", "get", "b\udcff")]
)
async def test_a_name_that_is_no_text_is_refused(
    aeonctl: Run, daemon: ScriptedDaemon, words: tuple[str, ...]
) -> None:
    """The name of a folder, a run or a key that is other bytes than UTF-8 is wrong usage in plain words."""
    printed = await aeonctl(*words)
    assert (printed.code, printed.out, daemon.runs.runs) == (2, "", {})
    assert printed.err.startswith("aeonctl: ")
    assert "b\\udcff' is not valid UTF-8 at character" in printed.err


async def test_without_a_daemon_it_says_how_to_start_one(aeonctl: Run, tmp_path: Path) -> None:
    """Without a daemon nothing is started; the error lists the tried sockets and how to start one."""
    printed = await aeonctl("--socket", str(tmp_path / "none.sock"), "status")
    assert printed.code == 3
    for words in ("none.sock (as given): the socket does not exist", "aeond serve", "AEOND_SOCKET"):
        assert words in printed.err


async def test_a_socket_of_others_is_distinguished(tmp_path: Path) -> None:
    """A user without the right to the socket reads that, and not that no daemon runs."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    path = Path("/tmp") / f"aeond-test-{os.getpid()}.sock"  # a folder that is not accessible would hide it
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        try:
            path.chmod(0o600)
            listener.listen()
            # Everything is imported first: another user may be unable to read this checkout.
            program = (
                "import os, sys, aeond_client.client, aeon_cli.text.wrapping; from aeon_cli.main import main; "
                "os.setgroups([]); os.setgid(65534); os.setuid(65534); sys.exit(main(['status']))"
            )
            printed = await finished([sys.executable, "-c", program], environment(AEOND_SOCKET=str(path)))
        finally:
            path.unlink()
    assert (printed.code, "permission denied" in printed.err) == (7, True), printed.err


async def test_a_lost_daemon_ends_the_watch_once_patience_does(aeonctl: Run, daemon: ScriptedDaemon) -> None:
    """A daemon that does not come back within --patience is exit code 3, and the run is not blamed."""
    script(daemon, wire_events.created())
    await aeonctl("ask", "--detach", "What?")
    printed: list[Printed] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            printed.append(await aeonctl("watch", "last", "--patience", "0.2"))

        group.start_soon(watch)
        await daemon.runs.open_watches.reaches(1)
        await daemon.stop()
    assert printed[0].code == 3
    # Many tries, and out of a terminal one line about them.
    assert printed[0].err.count("The daemon went away; waiting for it to come back (at most ") == 1
