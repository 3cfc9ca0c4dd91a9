"""`aeonctl open`, as far as it needs no browser."""

import http.client
import json
import re
import signal
import socket
from pathlib import Path

import anyio
import pytest

from tests.support.aeonctl import command, environment, finished
from tests.support.screens import terminal

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]{43})")


async def test_a_link_is_printed_and_another_one_on_request() -> None:
    """At a terminal the link is printed; Enter prints another one, and SIGINT ends the page with 0, with no daemon at all."""
    program = command("--socket", "/nonexistent/aeond.sock", "open", "--no-browser")
    async with terminal(program, environment=environment(TERM="xterm"), columns=120, lines=30) as shown:
        with anyio.fail_after(60):
            while len(LINK.findall(shown.screen.text)) < 1:
                await shown.read_once()
            shown.press("\n")
            while len(LINK.findall(shown.screen.text)) < 2:
                await shown.read_once()
        (port, first), (again, second) = LINK.findall(shown.screen.text)
        assert (port == again, first == second) == (True, False)
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
        connection.request("GET", "/")
        assert b"<title>aeon</title>" in connection.getresponse().read()
        connection.close()
        shown.process.send_signal(signal.SIGINT)
        assert await shown.read_to_end() == 0


async def test_a_link_follows_for_a_browser_that_cannot_read_the_file(tmp_path: Path) -> None:
    """Where a browser is opened, the link is printed too, for one that may not read the file which leads to the page."""
    browser = tmp_path / "xdg-open"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    desktop = environment(TERM="xterm", DISPLAY=":0", PATH=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path))
    program = command("--socket", "/nonexistent/aeond.sock", "open")
    async with terminal(program, environment=desktop, columns=120, lines=30) as shown:
        with anyio.fail_after(60):
            while not LINK.search(shown.screen.text):
                await shown.read_once()
        assert "If the tab in the browser stays empty, open the link below." in shown.screen.text
        shown.process.send_signal(signal.SIGINT)
        assert await shown.read_to_end() == 0


async def test_the_link_for_programs_is_one_line() -> None:
    """With --json the link is an object on one line, and SIGINT ends it with 0."""
    async with await anyio.open_process(command("open", "--json"), env=environment()) as process:
        assert process.stdout is not None
        with anyio.fail_after(60):
            line = b""
            while not line.endswith(b"\n"):
                line += await process.stdout.receive()
            assert LINK.fullmatch(json.loads(line)["url"])
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0


@pytest.mark.parametrize("long", [False, True])
async def test_an_unusable_port_or_socket_is_a_usage_error(tmp_path: Path, long: bool) -> None:
    """A port that is taken, or a path that no socket can have, is named and ends the command with 2."""
    path = tmp_path / ("x" * 120 if long else "aeond.sock")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = 0 if long else taken.getsockname()[1]
        words = command("--socket", str(path), "open", "--no-browser", "--port", str(port))
        done = await finished(words, environment())
    assert done.code == 2
    assert (
        "A socket path must have" if long else f"Port {port} cannot be used: Address already in use"
    ) in done.err
    assert "Traceback" not in done.err
