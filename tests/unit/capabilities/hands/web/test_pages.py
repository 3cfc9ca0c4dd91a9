"""fetch_url."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aeond.capabilities.hands.web import pages
from aeond.domain.tools import ToolCall
from tests.support.bubblewrap import needs_bubblewrap
from tests.support.network import page
from tests.support.site import serving
from tests.support.web import Web

HTML = "Content-Type: text/html; charset=utf-8"
BODY = '<title>Hours</title><p>Open from 9 to 5 in Łódź.</p><a href="/plan">Plan</a>'


@pytest.fixture
def address() -> Iterator[str]:
    """A site with pages of several kinds."""
    answers = {
        "/hours": page(BODY.encode(), 200, HTML),
        "/data": page(b'{"open": 9}', 200, "Content-Type: application/json"),
        "/picture": page(b"\x89PNG\0", 200, "Content-Type: image/png"),
        "/moved": page(b"", 301, "Location: https://other.example/new"),
        "/broken": page(b"", 500),
        "/long": page(b"x" * (5 << 20), 200, "Content-Type: text/plain"),
    }
    with serving(answers) as found:
        yield found


@needs_bubblewrap
async def test_a_page_is_read_as_text(tmp_path: Path, address: str) -> None:
    """The text of a page is found by the parser in the sandbox; its links are listed on request, its source too."""
    web = Web(tmp_path, address)
    found = await web.done("fetch_url", url=f"http://{address}/hours")
    assert (found["title"], found["links"], found["truncated"]) == ("Hours", [], False)
    assert "Open from 9 to 5 in Łódź." in found["text"]
    assert "<p>" not in found["text"]
    found = await web.done("fetch_url", url=f"http://{address}/hours", links=True)
    assert found["links"] == [{"url": f"http://{address}/plan", "text": "Plan"}]
    assert (await web.done("fetch_url", url=f"http://{address}/hours", raw=True))["text"] == BODY


async def test_other_text_is_returned_in_sections(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text that is not HTML is returned as it is; a long one is read on from `next_offset`."""
    monkeypatch.setattr(pages, "MAX_CHARS", 6)
    web = Web(tmp_path, address)
    first = await web.done("fetch_url", url=f"http://{address}/data")
    assert (first["text"], first["truncated"], first["next_offset"]) == ('{"open', True, 6)
    second = await web.done("fetch_url", url=f"http://{address}/data", offset=6)
    assert (second["text"], second["truncated"]) == ('": 9}', False)


async def test_more_than_the_limit_is_cut(tmp_path: Path, address: str) -> None:
    """Of a response beyond the limit the beginning is kept, and the result says so."""
    found = await Web(tmp_path, address).done("fetch_url", url=f"http://{address}/long", offset=(4 << 20) - 3)
    assert (found["text"], found["truncated"]) == ("xxx", True)


async def test_the_request_is_an_effect(tmp_path: Path, address: str) -> None:
    """The effect names the address, the status, the size and the IP address that answered."""
    result = await Web(tmp_path, address).call("fetch_url", url=f"http://{address}/data")
    (effect,) = result.effects
    assert (effect.kind, effect.target) == ("http.requested", f"http://{address}/data")
    assert effect.detail == "GET, 200, 11 bytes, from 127.0.0.1"


async def test_a_page_that_has_moved_away_is_named(tmp_path: Path, address: str) -> None:
    """Its new address, on another host, is returned and not requested."""
    found = await Web(tmp_path, address).done("fetch_url", url=f"http://{address}/moved")
    assert (found["location"], found["text"]) == ("https://other.example/new", "")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://{address}/none", "HTTP_STATUS"),
        ("http://{address}/broken", "HTTP_STATUS"),
        ("http://{address}/picture", "NOT_TEXT"),
        ("http://example.org/", "HOST_NOT_ALLOWED"),
        ("file:///etc/passwd", "URL_INVALID"),
        ("http://user@{address}/", "URL_INVALID"),
    ],
)
async def test_an_unreadable_source_is_an_error(tmp_path: Path, address: str, url: str, reason: str) -> None:
    """Errors of the server, pictures, forbidden hosts and invalid addresses fail with a reason, and a request that was
    sent is an effect nevertheless."""
    result = await Web(tmp_path, address).call("fetch_url", url=url.format(address=address))
    assert result.reason == reason
    sent = ["http.requested"] if reason in ("HTTP_STATUS", "NOT_TEXT") else []
    assert [effect.kind for effect in result.effects] == sent


async def test_targets_and_preview_name_host_and_address(tmp_path: Path) -> None:
    """The policy and the person who approves learn every host that the call may reach; nothing is requested."""
    web = Web(tmp_path, "127.0.0.1:1", ["example.org"])
    (tool,) = [one for one in web.web_tools if one.spec.name == "fetch_url"]
    call = ToolCall("fetch_url", {"url": "http://EXAMPLE.org/a"})
    targets = await tool.targets(call.arguments, web.context)
    assert [target.name for target in targets or ()] == ["example.org:80", "example.org:443"]
    preview = await tool.preview(call.arguments, web.context)
    assert preview.host == "example.org:80, example.org:443 (GET http://example.org/a)"
