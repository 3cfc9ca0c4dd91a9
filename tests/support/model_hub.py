"""A model hub on a loopback port that serves the files of one repository, with their metadata."""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field


@dataclass
class RepositoryHub:
    """`files` are in the repository; `lie` names one whose metadata are of another content. Weights are listed with
    their sha256, all other files with their object id in git."""

    files: Mapping[str, bytes]
    lie: str = ""
    url: str = ""
    paths: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).decode().split()[1]
        self.paths.append(path)
        if path.startswith("/api/models/"):
            body = json.dumps([self._listed(name) for name in self.files]).encode()
        else:
            body = self.files[path.rsplit("/", 1)[1]]
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        with contextlib.suppress(OSError):
            await writer.drain()
        writer.close()

    def _listed(self, name: str) -> dict[str, object]:
        content = self.files[name] if name != self.lie else bytes(len(self.files[name]))
        size = len(content)
        git = hashlib.sha1(f"blob {size}\0".encode() + content, usedforsecurity=False).hexdigest()
        entry: dict[str, object] = {"type": "file", "path": name, "size": size, "oid": git}
        if name.endswith((".safetensors", ".gguf")):
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": size}
        return entry


@contextlib.asynccontextmanager
async def served(hub: RepositoryHub) -> AsyncIterator[RepositoryHub]:
    async with await asyncio.start_server(hub.serve, "127.0.0.1", 0) as server:
        hub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield hub
