"""The endpoint of the metrics."""

import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from aeond.errors import StoreError
from aeond.observability import http_endpoint
from aeond.observability.http_endpoint import MAX_CONNECTIONS, HttpEndpoint
from aeond.server.door.listening import bound_socket
from tests.support.metrics_page import answered, request


async def page(accept: str) -> tuple[str, bytes]:
    return "text/plain", f"for {accept or 'anybody'}".encode()


@asynccontextmanager
async def serving(endpoint: HttpEndpoint, path: Path) -> AsyncIterator[None]:
    with bound_socket(path) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(endpoint.serve, listener)
            yield
            tasks.cancel_scope.cancel()


async def test_the_page_is_served_for_the_accepted_format(tmp_path: Path) -> None:
    """GET /metrics is answered with the page for the Accept header, and the connection closes."""
    async with serving(HttpEndpoint(page), tmp_path / "m.sock"):
        for sent, content in (
            (request(), "for anybody"),
            (request("/metrics?x=1", "accept: text/html"), "for text/html"),
        ):
            status, headers, found = await run_sync(answered, tmp_path / "m.sock", sent)
            assert (status, found) == (200, content)
            assert headers["content-type"] == "text/plain"
            assert headers["connection"] == "close"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request("/"), 404),
        (request("/metrics/x"), 404),
        (request(method="POST"), 405),
        (b"\x00\x01\x02\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\n\r\n", 400),
        (request("/metrics", f"x: {'y' * 20_000}"), 431),
    ],
)
async def test_any_other_request_is_refused(tmp_path: Path, sent: bytes, status: int) -> None:
    """Other paths, methods, and bytes that are no request get a status that says so."""
    async with serving(HttpEndpoint(page), tmp_path / "m.sock"):
        assert (await run_sync(answered, tmp_path / "m.sock", sent))[0] == status


async def test_the_key_is_required(tmp_path: Path) -> None:
    """With a key, a request without it or with another one is not answered with the page."""
    async with serving(HttpEndpoint(page, "secret"), tmp_path / "m.sock"):
        for header, status in (
            ("x: y", 401),
            ("authorization: Bearer other", 401),
            ("authorization: secret", 401),
            ("authorization: Bearer secret", 200),
        ):
            found, headers, content = await run_sync(
                answered, tmp_path / "m.sock", request("/metrics", header)
            )
            assert found == status
            assert ("for anybody" in content) is (status == 200)
            assert ("www-authenticate" in headers) is (status == 401)


async def test_a_journal_that_cannot_be_read_is_a_status(tmp_path: Path) -> None:
    """A page that fails is answered with 503, and the next request is answered again."""
    failures = [StoreError("the disk is gone", reason="JOURNAL_FAILED")]

    async def failing(accept: str) -> tuple[str, bytes]:
        if failures:
            raise failures.pop()
        return await page(accept)

    async with serving(HttpEndpoint(failing), tmp_path / "m.sock"):
        assert (await run_sync(answered, tmp_path / "m.sock", request()))[0] == 503
        assert (await run_sync(answered, tmp_path / "m.sock", request()))[0] == 200


@pytest.mark.parametrize(("key", "status"), [("", 405), ("secret", 401)])
async def test_a_head_request_is_answered_without_content(tmp_path: Path, key: str, status: int) -> None:
    """HEAD gets the status and the length of the content alone, and the next GET is answered."""
    async with serving(HttpEndpoint(page, key), tmp_path / "m.sock"):
        found, headers, content = await run_sync(answered, tmp_path / "m.sock", request(method="HEAD"))
        assert (found, content) == (status, "")
        assert int(headers["content-length"]) > 0
        get = request("/metrics", f"authorization: Bearer {key}")
        assert (await run_sync(answered, tmp_path / "m.sock", get))[0] == 200


async def test_an_internal_error_ends_its_own_connection_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection whose handling fails is closed with a line in the log, and the next one is answered."""
    failures = [ZeroDivisionError()]

    async def failing(accept: str) -> tuple[str, bytes]:
        if failures:
            raise failures.pop()
        return await page(accept)

    async with serving(HttpEndpoint(failing), tmp_path / "m.sock"):
        async with await anyio.connect_unix(tmp_path / "m.sock") as stream:
            await stream.send(request())
            with anyio.fail_after(10), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()
        assert (await run_sync(answered, tmp_path / "m.sock", request()))[0] == 200
    assert "ZeroDivisionError" in caplog.text


class Exhausted(socket.socket):
    """A listening socket whose first connections are not accepted."""

    failures = 2

    def accept(self) -> tuple[socket.socket, object]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET], ids=["unix", "tcp"])
async def test_a_failing_accept_is_repeated(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    family: socket.AddressFamily,
) -> None:
    """Without a free file descriptor the endpoint logs it and accepts the connection later."""
    monkeypatch.setattr(http_endpoint, "ACCEPT_PAUSE_SECONDS", 0.0)
    with Exhausted(family, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "m.sock") if family == socket.AF_UNIX else ("127.0.0.1", 0))
        listener.listen()
        address = tmp_path / "m.sock" if family == socket.AF_UNIX else listener.getsockname()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(HttpEndpoint(page).serve, listener)
            assert (await run_sync(answered, address, request()))[0] == 200
            tasks.cancel_scope.cancel()
    assert caplog.text.count("Too many open files") == 2


async def test_silent_connections_keep_no_reader_out(tmp_path: Path) -> None:
    """Beyond the limit, the oldest connection that has not sent a request ends, and the new one is answered."""
    async with serving(HttpEndpoint(page), tmp_path / "m.sock"):
        streams = [await anyio.connect_unix(tmp_path / "m.sock") for _ in range(MAX_CONNECTIONS)]
        status, _, _ = await run_sync(answered, tmp_path / "m.sock", request())
        assert status == 200
        with anyio.fail_after(10), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await streams[0].receive()
    for stream in streams:
        await stream.aclose()


async def test_connections_are_bounded(tmp_path: Path) -> None:
    """While all connections wait for their answers, a further one is closed unanswered."""
    asked, ready = anyio.Semaphore(0), anyio.Event()

    async def slow(_accept: str) -> tuple[str, bytes]:
        asked.release()
        await ready.wait()
        return "text/plain", b"done"

    async with serving(HttpEndpoint(slow), tmp_path / "m.sock"):
        streams = [await anyio.connect_unix(tmp_path / "m.sock") for _ in range(MAX_CONNECTIONS)]
        with anyio.fail_after(10):
            for stream in streams:
                await stream.send(request())
                await asked.acquire()
        further = await anyio.connect_unix(tmp_path / "m.sock")
        with anyio.fail_after(10), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await further.receive()
        ready.set()
        with anyio.fail_after(10):
            for stream in streams:
                assert b"200" in await stream.receive()
        for stream in (*streams, further):
            await stream.aclose()
