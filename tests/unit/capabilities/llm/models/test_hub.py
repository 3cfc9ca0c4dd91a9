"""Downloads from a hub: resumed after an interruption, of the right size, and quick to fail."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aeond.capabilities.llm.models.catalogue import HubFile
from aeond.capabilities.llm.models.hub import Hub
from aeond.errors import LLMError
from tests.support.model_wheels import CONTENT

WANTED = HubFile("owner/tiny", "tiny.gguf")


@dataclass
class SmallHub:
    """Serves one file on a loopback port; `cut_at` breaks off there, `ranges` keeps what was asked for."""

    content: bytes = CONTENT
    cut_at: int | None = None
    knows_ranges: bool = True
    url: str = ""
    ranges: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.paths.append(head.split()[1])
        self.heads.append(head)
        asked = re.search(r"(?i)range: bytes=(\d+)-", head)
        start = int(asked[1]) if asked and self.knows_ranges else 0
        self.ranges.append(int(asked[1]) if asked else 0)
        status = "206 Partial Content" if start else "200 OK"
        body = self.content[start:]
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        writer.write(body if self.cut_at is None else body[: self.cut_at])
        with contextlib.suppress(OSError):
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def serving(hub: SmallHub) -> AsyncIterator[SmallHub]:
    async with await asyncio.start_server(hub.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        hub.url = f"http://127.0.0.1:{port}/"
        yield hub


async def get(hub: SmallHub, target: Path) -> Path:
    return await Hub(hub.url).get(WANTED, target, len(CONTENT), lambda _count: None)


async def test_a_file_is_fetched_from_its_repository(tmp_path: Path) -> None:
    """The file comes from the hubs' usual address of the repository's main line."""
    async with serving(SmallHub()) as hub:
        path = await get(hub, tmp_path / "part")
    assert path.read_bytes() == CONTENT
    assert hub.paths == ["/owner/tiny/resolve/main/tiny.gguf"]


@pytest.mark.parametrize("knows_ranges", [True, False])
async def test_a_broken_line_is_taken_up_again(tmp_path: Path, knows_ranges: bool) -> None:
    """The second attempt asks only for the rest, or starts over where the hub does not support ranges."""
    async with serving(SmallHub(cut_at=50_000, knows_ranges=knows_ranges)) as hub:
        with pytest.raises(LLMError, match="failed"):
            await get(hub, tmp_path / "part")
        hub.cut_at = None
        path = await get(hub, tmp_path / "part")
    assert path.read_bytes() == CONTENT
    assert hub.ranges[0] == 0
    assert 0 < hub.ranges[1] <= 50_000


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x"], ids=["shorter", "longer"])
async def test_a_file_of_another_size_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is not as long as the catalogue says is refused and removed."""
    async with serving(SmallHub(content=content)) as hub:
        with pytest.raises(LLMError, match="another size"):
            await get(hub, tmp_path / "part")
    assert not (tmp_path / "part").exists()


async def test_no_hub_and_no_server_fail_at_once(tmp_path: Path) -> None:
    """Without a hub, or without a server at its address, a download fails at once."""
    async with serving(SmallHub()) as hub:
        pass
    for url in ("", hub.url):
        with pytest.raises(LLMError) as failed:
            await Hub(url).get(WANTED, tmp_path / "part", 1, lambda _count: None)
        assert failed.value.reason == "MODEL_UNAVAILABLE"


async def test_a_token_is_shown_to_the_hub_alone(tmp_path: Path) -> None:
    """A hub that asks for a token gets it; without one there is no such header."""
    async with serving(SmallHub()) as hub:
        await Hub(hub.url, "value-7321").get(WANTED, tmp_path / "a", len(CONTENT), lambda _count: None)
        await get(hub, tmp_path / "b")
    assert ["authorization: bearer value-7321" in head.lower() for head in hub.heads] == [True, False]
