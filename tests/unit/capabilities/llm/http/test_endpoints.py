"""Addresses of servers: which are understood, and which are refused before anything is sent."""

from pathlib import Path

import pytest

from aeond.capabilities.llm.http.endpoints import UnixSocket, WebAddress, endpoint_of
from aeond.errors import InvalidInputError, LLMError


@pytest.mark.parametrize(
    ("url", "host", "port", "prefix"),
    [
        ("https://api.example.com/v1", "api.example.com", 443, ""),
        ("https://api.example.com:8443/openai/v1/", "api.example.com:8443", 8443, "/openai"),
        ("https://api.example.com", "api.example.com", 443, ""),
        ("http://localhost:8000/v1", "localhost:8000", 8000, ""),
        ("http://127.0.0.2", "127.0.0.2", 80, ""),
        ("http://[::1]:8000", "[::1]:8000", 8000, ""),
    ],
)
def test_addresses_are_understood(url: str, host: str, port: int, prefix: str) -> None:
    """A host with or without port, path and version names the same places everywhere."""
    endpoint = endpoint_of(url, "")
    assert isinstance(endpoint, WebAddress)
    assert (endpoint.host, endpoint.port, endpoint.prefix) == (host, port, prefix)
    assert endpoint.plain is url.startswith("http:")


def test_a_socket_is_an_address_too() -> None:
    """unix: and a path name a socket of this machine."""
    endpoint = endpoint_of("unix:/run/engine.sock", "key")
    assert endpoint == UnixSocket(Path("/run/engine.sock"), secret="key")
    assert endpoint.headers == {"authorization": "Bearer key"}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "ftp://x",
        "https://",
        "https://x:99999",
        "https://x/?key=1",
        "https://a:b@x",
        "unix:relative",
        "unix://host/run/x",
        "http://example.com",
        "http://10.0.0.1:8000",
        "http://localhost.example.com",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    """A malformed address, one with a password, or one that would send everything in the clear is refused."""
    with pytest.raises(InvalidInputError) as refused:
        endpoint_of(url, "")
    assert refused.value.field == "remote.url"


def test_plain_http_elsewhere_must_be_wanted() -> None:
    """Plain http to another machine is possible when it is allowed explicitly."""
    endpoint = endpoint_of("http://10.0.0.1:8000", "", plain_anywhere=True)
    assert isinstance(endpoint, WebAddress)
    assert endpoint.plain


def test_a_key_is_not_shown() -> None:
    """Neither kind of endpoint has its key in what is printed of it."""
    for url in ("unix:/run/x.sock", "https://example.com"):
        assert "sekret" not in repr(endpoint_of(url, "sekret"))


async def test_a_file_of_authorities_that_is_none_is_named(tmp_path: Path) -> None:
    """A file that holds no certificates is an error that names it."""
    (tmp_path / "ca.pem").write_text("hello")
    with pytest.raises(LLMError, match=r"ca\.pem") as refused:
        await endpoint_of("https://localhost:1", "", ca_file=str(tmp_path / "ca.pem")).connect()
    assert refused.value.reason == "CA_FILE_BROKEN"
