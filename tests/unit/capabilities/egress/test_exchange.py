"""Requests over real sockets of the loopback interface: content, redirections, and what is bounded."""

import asyncio
import gzip
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
import trustme

from aeond.capabilities.egress.exchange import (
    MAX_HEAD_BYTES,
    MAX_REDIRECTS,
    Request,
    Response,
    fetch,
    followed_ports,
)
from aeond.capabilities.egress.gate import Gate, Record
from aeond.capabilities.egress.rules import EgressRules
from aeond.capabilities.egress.urls import parse_url
from aeond.domain.tools import CALL_CUT, RecordedEffect, ignore_effect
from aeond.errors import ToolError
from tests.support.network import ScriptedNetwork, page
from tests.support.site import Answer, serving

PATIENCE = 30.0


async def get(
    address: str,
    path: str,
    max_bytes: int = 1_000,
    seconds: float = PATIENCE,
    record: Record = ignore_effect,
    **more: Any,
) -> Response:
    gate = Gate(EgressRules.of([], [address]))
    request = Request(more.pop("method", "GET"), parse_url(f"http://{address}{path}"), **more)
    return await fetch(gate, request, record, max_bytes=max_bytes, seconds=seconds)


async def refused(*arguments: Any, **more: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await get(*arguments, **more)
    return caught.value


def chunked(*parts: bytes) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body


def zipped(body: bytes) -> bytes:
    return page(gzip.compress(body), 200, "Content-Encoding: gzip")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A server with every kind of answer."""
    answers: dict[str, Answer] = {
        "/plain": page(b"hello"),
        "/echo": lambda received: page(received.encode()),
        "/chunked": chunked(b"hel", b"lo"),
        "/zipped": zipped(b"hello"),
        "/bomb": zipped(b"\0" * (64 << 20)),
        "/long": page(b"x" * 5_000),
        "/brotli": page(b"hello", 200, "Content-Encoding: br"),
        "/broken-zip": page(b"hello", 200, "Content-Encoding: gzip"),
        "/moved": page(b"", 302, "Location: /plain"),
        "/moved-raw": page(b"", 302, f"Location: {'/café'.encode().decode('latin-1')}"),
        "/moved-latin": page(b"", 302, "Location: /café"),
        "/caf%C3%A9": page(b"hello"),
        "/away": page(b"", 307, "Location: https://other.example/x"),
        "/interim": b"HTTP/1.1 103 Early Hints\r\n\r\n" + page(b"hello"),
        "/interim-only": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100,
        "/no-http": b"SSH-2.0-server\r\n",
        "/silent": b"",
        "/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello",
        "/large-head": page(b"hello", 200, f"X: {'x' * 2 * MAX_HEAD_BYTES}"),
        "/twice": page(b"hello", 200, "X-Part: a", "x-part: b"),
    }
    with serving(answers) as address:
        yield address


@pytest.mark.parametrize(
    "path", ["/plain", "/chunked", "/zipped", "/moved", "/moved-raw", "/moved-latin", "/interim", "/twice"]
)
async def test_content_arrives_in_every_usual_form(site: str, path: str) -> None:
    """Content is returned whole, plain, in chunks, compressed, after a redirection and after an early response."""
    response = await get(site, path)
    assert (response.content, response.status, response.truncated) == (b"hello", 200, False)
    assert (response.address, response.location) == ("127.0.0.1", "")


async def test_a_request_carries_what_was_asked_for_and_no_more(site: str) -> None:
    """The request names the host, the program and its body, and has neither cookies nor credentials nor a referrer."""
    fields = (("X-Part", "a"),)
    response = await get(site, "/echo?q=1", method="POST", headers=fields, content=b"body")
    lines = response.content.decode().lower().split("\n")
    assert lines[0] == "post /echo?q=1 http/1.1"
    assert set(filter(None, lines[1:-1])) == {
        *(f"host: {site}", "user-agent: aeond", "accept-encoding: gzip", "connection: close"),
        *("content-length: 4", "x-part: a"),
    }
    assert lines[-1] == "body"


async def test_environment_variables_name_no_proxy(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are sent directly, whatever proxies the environment has."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await get(site, "/plain")).content == b"hello"


@pytest.mark.parametrize("path", ["/long", "/bomb"])
async def test_content_is_bounded(site: str, path: str) -> None:
    """Of long content the beginning is kept; a compressed body of 64 MiB is expanded no further than that."""
    response = await get(site, path, 1_000)
    assert (len(response.content), response.truncated) == (1_000, True)
    response = await get(site, "/plain", 5)
    assert (response.content, response.truncated) == (b"hello", False)


async def test_a_redirection_to_another_host_is_returned(site: str) -> None:
    """Its address is part of the result; a POST is never redirected."""
    assert (await get(site, "/away")).location == "https://other.example/x"
    assert (await get(site, "/moved", method="POST")).location == f"http://{site}/plain"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/brotli", "ENCODING_UNKNOWN"),
        ("/broken-zip", "HTTP_BROKEN"),
        ("/interim-only", "HTTP_BROKEN"),
        ("/no-http", "HTTP_BROKEN"),
        ("/silent", "HTTP_BROKEN"),
        ("/cut", "HTTP_BROKEN"),
        ("/large-head", "HTTP_BROKEN"),
    ],
)
async def test_broken_responses_are_errors(site: str, path: str, reason: str) -> None:
    """A response that is not HTTP, ends early, is compressed otherwise or has too many fields is an error; a request that
    may have changed something was cut, and is not tried again."""
    error = await refused(site, path)
    assert (error.reason, error.retryable) == (reason, reason == "HTTP_BROKEN")
    posted = await refused(site, path, method="POST")
    assert (posted.reason, posted.retryable) == (CALL_CUT, False)


def details(effects: list[RecordedEffect]) -> list[str]:
    return [effect.detail for effect in effects]


async def test_every_request_of_a_redirection_is_recorded(site: str) -> None:
    """Each request that was sent is an effect, in order, with its address, status and size; one that the rules refuse is
    none."""
    effects: list[RecordedEffect] = []
    await get(site, "/moved", record=effects.append)
    assert effects == [
        RecordedEffect("http.requested", f"http://{site}/moved", "GET, 302, 0 bytes, from 127.0.0.1"),
        RecordedEffect("http.requested", f"http://{site}/plain", "GET, 200, 5 bytes, from 127.0.0.1"),
    ]
    effects.clear()
    gate = Gate(EgressRules.of(["example.org"], []))
    with pytest.raises(ToolError):
        await fetch(
            gate,
            Request("GET", parse_url(f"http://{site}/plain")),
            effects.append,
            max_bytes=1,
            seconds=PATIENCE,
        )
    assert effects == []


@pytest.mark.parametrize("path", ["/cut", "/brotli", "/no-http", "/silent"])
async def test_a_request_without_a_response_is_recorded(site: str, path: str) -> None:
    """A request whose response is broken is an effect nevertheless."""
    effects: list[RecordedEffect] = []
    await refused(site, path, record=effects.append)
    assert details(effects) == ["GET, no whole response, from 127.0.0.1"]


async def test_the_first_hops_of_a_chain_that_fails_are_recorded() -> None:
    """Requests before the one that fails are effects: of six that redirect, and of one before a server that is gone."""
    effects: list[RecordedEffect] = []
    with serving({"/round": page(b"", 302, "Location: /round")}) as address:
        assert (await refused(address, "/round", record=effects.append)).reason == "TOO_MANY_REDIRECTS"
    assert len(effects) == MAX_REDIRECTS + 1
    effects.clear()
    with ScriptedNetwork([["93.184.215.14"], ["10.0.0.1"]], [page(b"", 302, "Location: /next")]) as made:
        gate = Gate(EgressRules.of(["*"], []), resolve=made.resolve, dial=made.dial)
        request = Request("GET", parse_url("http://example.org/"))
        with pytest.raises(ToolError) as caught:
            await fetch(gate, request, effects.append, max_bytes=100, seconds=PATIENCE)
    assert caught.value.reason == "ADDRESS_NOT_PUBLIC"
    assert details(effects) == ["GET, 302, 0 bytes, from 93.184.215.14"]


async def test_a_server_that_does_not_end_is_left() -> None:
    """A response that stays incomplete ends with an error when the time is up, and the request is recorded."""
    effects: list[RecordedEffect] = []
    release = threading.Event()

    def hang(_received: str) -> bytes:
        release.wait(PATIENCE)
        return page()

    with serving({"/": hang}) as address:
        try:
            error = await refused(address, "/", seconds=0.2, record=effects.append)
            posted = await refused(address, "/", seconds=0.2, method="POST")
        finally:
            release.set()
    assert (error.reason, error.retryable) == ("HTTP_TIMEOUT", True)
    assert details(effects) == ["GET, no whole response, from 127.0.0.1"]
    assert (posted.reason, posted.retryable) == (CALL_CUT, False)


async def test_a_request_that_was_not_begun_may_be_repeated() -> None:
    """If the time is up before there is a connection, nothing was sent: no method leaves an unknown outcome or an effect."""

    async def resolve(_host: str, _port: int) -> list[str]:
        await anyio.sleep_forever()
        raise AssertionError

    effects: list[RecordedEffect] = []
    gate = Gate(EgressRules.of(["*"], []), resolve=resolve)
    request = Request("POST", parse_url("http://example.org/"))
    with pytest.raises(ToolError) as caught:
        await fetch(gate, request, effects.append, max_bytes=100, seconds=0.1)
    assert (caught.value.reason, caught.value.retryable, effects) == ("HTTP_TIMEOUT", True, [])


async def test_nothing_listening_is_an_error() -> None:
    """A port without a server is an error with its reason."""
    with serving({}) as address:
        pass
    assert (await refused(address, "/")).reason == "CONNECTION_FAILED"


async def test_a_server_must_prove_its_name() -> None:
    """Over https the certificate must be for the name of the address, by an authority that is trusted; a server
    that fails in this receives no request, and its host is recorded."""
    effects: list[RecordedEffect] = []
    authority = trustme.CA()
    server_context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("example.org").configure_cert(server_context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def answer(reader: Any, writer: Any) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(page(b"hello"))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context)
    port = server.sockets[0].getsockname()[1]

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    async def over(host: str, trust: ssl.SSLContext) -> str:
        gate = Gate(EgressRules.of([], [f"{host}:{port}"]), resolve=resolve, trust=lambda: trust)
        request = Request("GET", parse_url(f"https://{host}:{port}/"))
        try:
            return (
                await fetch(gate, request, effects.append, max_bytes=100, seconds=PATIENCE)
            ).content.decode()
        except ToolError as error:
            return error.reason

    async with server:
        assert await over("example.org", trusting) == "hello"
        assert await over("other.example", trusting) == "CERTIFICATE_INVALID"
        assert await over("example.org", ssl.create_default_context()) == "CERTIFICATE_INVALID"
    assert [(effect.kind, effect.target) for effect in effects] == [
        ("http.requested", f"https://example.org:{port}/"),
        ("host.contacted", f"other.example:{port}"),
        ("host.contacted", f"example.org:{port}"),
    ]


async def test_a_cancelled_request_closes_its_connection() -> None:
    """A request that is cancelled leaves no connection open, and is recorded."""
    effects: list[RecordedEffect] = []
    with ScriptedNetwork([["93.184.215.14"]], [b"HTTP/1.1 200 OK\r\n"]) as made:
        gate = Gate(EgressRules.of(["*"], []), resolve=made.resolve, dial=made.dial)
        request = Request("GET", parse_url("http://example.org/"))
        scope = anyio.CancelScope()

        async def ask() -> None:
            with scope:
                await fetch(gate, request, effects.append, max_bytes=100, seconds=PATIENCE)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            with anyio.fail_after(PATIENCE):
                await made.begun()
            scope.cancel()
        assert scope.cancelled_caught
        assert details(effects) == ["GET, no whole response, from 93.184.215.14"]
        await anyio.lowlevel.checkpoint()
        assert made.sent()[0].startswith("GET / HTTP/1.1")  # reads until the connection is closed


def test_a_page_may_be_reached_at_two_ports() -> None:
    """A request to port 80 may go on to port 443 of the same host, and to nothing else."""
    assert followed_ports(parse_url("http://example.org/")) == ("example.org:80", "example.org:443")
    for one in ("https://example.org/", "http://example.org:8080/", "https://example.org:80/"):
        assert len(followed_ports(parse_url(one))) == 1
