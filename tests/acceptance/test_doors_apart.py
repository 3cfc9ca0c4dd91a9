"""Another user of the machine at the doors that a user's own programs open: façades and the web page."""

import http.client
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aeond_client.client import Client
from tests.support.aeonctl import command, environment
from tests.support.openai_clients import KEY, openai_facade
from tests.support.stages import staged
from tests.support.stranger import attempted, silent_connections

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")

SECRET = "the gate code is 7714"
CALLS = {
    "openai": ("/v1/chat/completions", {"model": "aeond", "messages": [{"role": "user", "content": SECRET}]}),
    "mcp": ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "runs"}}),
}
LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]{43})")


def own_request(port: int, path: str, body: Any, **headers: str) -> int:
    """The status of a request of the user who runs the program."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        accepted = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        connection.request("POST", path, json.dumps(body), {**accepted, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("protocol", ["openai", "mcp"])
def test_a_facade_answers_its_user_alone(folder: Path, protocol: str) -> None:
    """Another user who knows socket, port and path of a façade, and guesses at its key, gets no answer but a refusal, learns
    nothing of the key, starts no run, and shuts its user out by no number of connections.
    """
    folder.chmod(0o755)
    unix, key_file = folder / f"{protocol}.sock", folder / "openai.key"
    options = ("--socket", str(unix), "--port", "0", "--key-file", str(key_file))
    with (
        staged(folder, {"socket": {"mode": "0666"}}) as stage,
        openai_facade(stage.socket, folder, *options, protocol=protocol) as addresses,
    ):
        port = int(addresses.rpartition(":")[2])
        path, body = CALLS[protocol]
        asked: dict[str, Any] = {"port": port, "path": path, "body": json.dumps(body)}
        guesses: tuple[dict[str, str], ...] = (
            {},
            {"authorization": ""},
            {"authorization": "Bearer "},
            {"authorization": f"Bearer {KEY[:-1]}"},
            {"authorization": f"Bearer {KEY}x"},
            {"authorization": f"Basic {KEY}"},
            {"x-api-key": KEY},
        )
        refused = attempted([{**asked, "headers": headers} for headers in guesses])
        assert {status for status, _ in refused} == {401}
        assert len({text for _, text in refused}) == 1
        rebound, page, closed, secret = attempted(
            [
                {**asked, "headers": {"host": f"rebound.example:{port}", "authorization": f"Bearer {KEY}"}},
                {**asked, "headers": {"origin": "http://evil.example", "authorization": f"Bearer {KEY}"}},
                {"unix": str(unix)},
                {"file": str(key_file)},
            ]
        )
        assert (rebound[0], page[0], closed, secret) == (421, 403, "PermissionError", "PermissionError")
        with Client(stage.socket) as client:
            assert client.list_runs() == ()
        with silent_connections(port, 80):
            # The application answers, and not its guard: the request has no content.
            assert own_request(port, path, {}, authorization=f"Bearer {KEY}") == 400


@contextmanager
def opened_page(socket: str) -> Iterator[tuple[int, str]]:
    """The port and the token of `aeonctl open`."""
    words = command("--socket", socket, "open", "--json")
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            link = LINK.fullmatch(json.loads(process.stdout.readline())["url"])
            assert link is not None
            yield int(link[1]), link[2]
        finally:
            process.terminate()
            process.wait(30)


def test_a_page_answers_its_user_alone(folder: Path) -> None:
    """Another user who finds the port of the page gets its files, which hold nothing, and with a used link, a guess, or the
    headers of the page no session and no events; connections of that user keep the page from nothing.
    """
    folder.chmod(0o755)
    with staged(folder, {"socket": {"mode": "0666"}}) as stage, opened_page(stage.socket) as (port, token):
        origin = {"origin": f"http://127.0.0.1:{port}"}
        assert own_request(port, "/api/begin", {"token": token}, **origin) == 200
        headers = {**origin, "content-type": "application/json", "sec-fetch-site": "same-origin"}
        guessed = {**headers, "cookie": f"aeon-{port}={token}", "x-aeon-key": token}
        asked: dict[str, Any] = {"port": port, "headers": guessed}
        again = json.dumps({"token": token})
        found = attempted(
            [
                {**asked, "path": "/api/begin", "body": again},
                {**asked, "path": "/api/list_runs"},
                {**asked, "path": "/api/stream", "body": '{"run_id": "x"}'},
                {**asked, "path": "/api/create_run", "body": '{"text": "x"}'},
                {**asked, "path": "/api/stream", "method": "GET", "body": None},
                {**asked, "path": "/api/begin", "headers": {**headers, "host": f"localhost:{port}"}},
                {**asked, "path": "/", "method": "GET", "body": None},
            ]
        )
        assert [status for status, _ in found] == [401, 401, 401, 401, 403, 421, 200]
        assert token not in found[-1][1]
        with Client(stage.socket) as client:
            assert client.list_runs() == ()
        with silent_connections(port, 80):
            assert own_request(port, "/api/begin", {"token": "used"}, **origin) == 401
