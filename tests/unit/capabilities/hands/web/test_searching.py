"""web_search."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.network import page
from tests.support.site import serving
from tests.support.web import Web

RESULTS = [
    {"title": "Trains  to\nKraków", "url": "https://rail.example/a b", "content": "not an address"},
    {"title": "Trains  to\nKraków", "url": "https://rail.example/krakow", "content": "Every hour. " * 100},
    {"title": None, "url": "https://BUS.example", "content": None, "score": 1},
    {"title": "More", "url": "https://more.example/", "content": "More"},
]


@contextmanager
def searching(tmp_path: Path, answer: bytes, status: int = 200) -> Iterator[tuple[Web, list[str]]]:
    """The tools over a server that answers every search with this, and the addresses that it was asked for."""
    asked: list[str] = []

    def search(received: str) -> bytes:
        asked.append(received.split()[1])
        return page(answer, status, "Content-Type: application/json")

    with serving({"/search": search}) as address:
        yield Web(tmp_path, address), asked


async def test_results_have_title_address_and_text(tmp_path: Path) -> None:
    """The server is asked for JSON; results are bounded, on one line, and only those that can be fetched."""
    with searching(tmp_path, json.dumps({"results": RESULTS}).encode()) as (web, asked):
        found = (await web.done("web_search", query="trains & buses to Kraków", count=2))["results"]
    assert parse_qs(urlsplit(asked[0]).query) == {"q": ["trains & buses to Kraków"], "format": ["json"]}
    assert [one["url"] for one in found] == ["https://rail.example/krakow", "https://bus.example/"]
    assert (found[0]["title"], len(found[0]["text"]), found[1]["title"]) == ("Trains to Kraków", 500, "")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"results": 1}',
        b'{"results": [1]}',
        b"{}",
        b"[" * 200_000,
        b'{"results": [{}]}',
    ],
)
async def test_other_answers_are_errors(tmp_path: Path, answer: bytes) -> None:
    """A server without the format JSON, and one that answers with something else, fails with a reason; the
    request is an effect."""
    with searching(tmp_path, answer) as (web, _):
        result: Any = await web.call("web_search", query="x")
    assert result.reason == "SEARCH_ANSWER_INVALID"
    assert [effect.kind for effect in result.effects] == ["http.requested"]


async def test_a_server_that_refuses_is_an_error(tmp_path: Path) -> None:
    """The status of the server is the reason."""
    with searching(tmp_path, b"", 403) as (web, _):
        assert (await web.call("web_search", query="x")).reason == "HTTP_STATUS"
