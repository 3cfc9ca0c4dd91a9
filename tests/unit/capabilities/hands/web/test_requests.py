"""http_request."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.network import page
from tests.support.site import Answer, serving
from tests.support.web import Web


@pytest.fixture
def address() -> Iterator[str]:
    """A server that returns what it received."""
    answers: dict[str, Answer] = {
        "/echo": lambda received: page(received.encode(), 201, "Content-Type: text/plain; charset=utf-8"),
        "/binary": page(b"\0\1", 200, "Content-Type: application/octet-stream"),
        "/moved": page(b"", 303, "Location: /echo"),
        "/error": page(b'{"error": "no lamp"}', 404, "Content-Type: application/json"),
    }
    with serving(answers) as found:
        yield found


async def test_method_fields_and_body_are_sent(tmp_path: Path, address: str) -> None:
    """The server receives what the arguments say; a JSON body has its type by itself."""
    web = Web(tmp_path, address)
    result = await web.call(
        "http_request",
        method="PUT",
        url=f"http://{address}/echo",
        headers=["Accept: text/csv", "X-Empty:"],
        body=json.dumps({"on": "żarówka"}, ensure_ascii=False),
    )
    assert result.success
    data = result.data
    assert isinstance(data, dict)
    assert (data["status"], data["content_type"], data["truncated"]) == (201, "text/plain", False)
    text = str(data["text"])
    assert text.startswith("PUT /echo HTTP/1.1")
    for line in ("Accept: text/csv", "Content-Type: application/json", '{"on": "żarówka"}'):
        assert line in text
    assert [effect.kind for effect in result.effects] == ["http.requested"]
    assert result.effects[0].detail.startswith("PUT, 201, ")


async def test_responses_are_results(tmp_path: Path, address: str) -> None:
    """An error of the server is a result with its text; data that are not text are left out, a redirection of POST is
    returned."""
    web = Web(tmp_path, address)
    found = await web.done("http_request", method="GET", url=f"http://{address}/error")
    assert (found["status"], found["text"]) == (404, '{"error": "no lamp"}')
    found = await web.done("http_request", method="GET", url=f"http://{address}/binary")
    assert (found["text"], found["truncated"]) == ("", True)
    found = await web.done("http_request", method="POST", url=f"http://{address}/moved")
    assert (found["status"], found["location"]) == (303, f"http://{address}/echo")


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        *[
            (f"{name}: x", "HEADER_NOT_ALLOWED")
            for name in ("Authorization", "cookie", "Host", "Content-Length")
        ],
        *[
            (f"{name}: x", "HEADER_NOT_ALLOWED")
            for name in ("Proxy-Authorization", "Transfer-Encoding", "Sec-A")
        ],
        *[
            (text, "HEADER_INVALID")
            for text in ("", "Accept", "A b: c", "A: b\r\nHost: c", "A: b\0", "A: ż", ": a")
        ],
    ],
)
async def test_fields_are_checked(tmp_path: Path, address: str, field: str, reason: str) -> None:
    """Credentials, fields of the connection and whatever could become a second field are refused before a connection."""
    url = f"http://{address}/echo"
    result = await Web(tmp_path, address).call("http_request", method="GET", url=url, headers=[field])
    assert result.reason == reason
