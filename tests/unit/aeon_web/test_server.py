"""Which request gets which response; tests/page/test_attacks.py has the refusals."""

import json
import socket
from typing import Any

import pytest

from aeon_web.access import KEY_HEADER, Access
from aeon_web.exchange import Request
from aeon_web.server import Page, serve
from tests.support.page_states import StatesClient


def asked(access: Access, path: str, given: Any) -> Request:
    """A request of the page, with a new session."""
    session = access.begin(access.new_link().rpartition("=")[2])
    assert session is not None
    headers = {
        "host": access.origin.removeprefix("http://"),
        "origin": access.origin,
        "content-type": "application/json",
        "cookie": access.cookie_of(session).partition(";")[0],
        KEY_HEADER: session.key,
    }
    return Request("POST", path, headers, json.dumps(given).encode())


async def test_a_call_is_answered_with_its_record() -> None:
    """The record that a call returns is sent as JSON."""
    client: Any = StatesClient()
    page = Page(Access(80), "", lambda: client)
    reply = await page.answer(asked(page.access, "/api/list_sessions", {}))
    assert isinstance(reply.body, bytes)
    assert (reply.status, json.loads(reply.body)[0]["session_id"]) == (200, "session-1")


@pytest.mark.parametrize(("up", "status", "reason"), [(False, 503, "NO_DAEMON"), (True, 503, "UNAVAILABLE")])
async def test_an_error_of_the_daemon_is_passed_on(up: bool, status: int, reason: str) -> None:
    """An error has the status of its class, and the reason and the message of the client library."""
    client: Any = StatesClient(up=up)
    page = Page(Access(80), "", lambda: client)
    reply = await page.answer(asked(page.access, "/api/create_run", {"text": "x", "request_id": "k"}))
    assert isinstance(reply.body, bytes)
    error = json.loads(reply.body)
    assert (reply.status, error["reason"], error["message"]) == (status, reason, "No daemon is listening.")


async def test_a_request_is_sent_with_its_id() -> None:
    """The request id of the page reaches the daemon, so that a repeat creates no second run."""
    client: Any = StatesClient()
    page = Page(Access(80), "", lambda: client)
    await page.answer(asked(page.access, "/api/create_run", {"text": "x", "request_id": "k"}))
    assert client.calls == [("create_run", {"text": "x", "request_id": "k"})]


async def test_the_head_of_a_file_has_no_body() -> None:
    """HEAD gets the headers of a file alone."""
    page = Page(Access(80), "")
    request = Request("HEAD", "/app.js", {"host": "127.0.0.1:80"})
    assert (await page.answer(request)).body == b""


async def test_a_port_that_is_taken_is_an_error() -> None:
    """A second server on the same port does not start."""
    ports: list[int] = []

    def ready(access: Access) -> None:
        ports.append(int(access.origin.rpartition(":")[2]))
        raise LookupError

    with pytest.raises(LookupError):
        await serve("", 0, ready)

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        await serve("", taken.getsockname()[1], ready)
    assert len(ports) == 1
