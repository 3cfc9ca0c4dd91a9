"""Downloads a model's file from a model hub by the hubs' common scheme of addresses."""

from collections.abc import Callable
from pathlib import Path

import anyio

from aeond.capabilities.llm.models.catalogue import HubFile
from aeond.errors import LLMError

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0


class Hub:
    """A model hub at `url`, such as `https://hub.example`; "" for none, which has nothing.

    `token` lets in where that takes one; it goes to this hub and to nobody it redirects to.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self._url = url.rstrip("/")
        self._token = token

    async def get(self, wanted: HubFile, target: Path, size: int, on_bytes: Callable[[int], None]) -> Path:
        """Writes the file to `target`, going on after what is there already; returns `target`.

        Raises LLMError (reason MODEL_UNAVAILABLE) at once when there is no hub, within seconds when it cannot
        be reached, and when the file is not `size` bytes long.
        """
        if not self._url:
            raise LLMError("no model hub is configured", reason="MODEL_UNAVAILABLE")
        import httpx

        address = f"{self._url}/{wanted.repository}/resolve/main/{wanted.file}"
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        try:
            async with httpx.AsyncClient(timeout=timeout, follow_redirects=True) as http:
                here = size_of(target)
                headers = {"range": f"bytes={here}-"} if 0 < here < size else {}
                if self._token:
                    headers["authorization"] = f"Bearer {self._token}"
                async with http.stream("GET", address, headers=headers) as response:
                    response.raise_for_status()
                    resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
                    done = here if resumed else 0
                    with target.open("ab" if resumed else "wb") as file:
                        async for piece in response.aiter_bytes():
                            done += len(piece)
                            if done > size:
                                break
                            await anyio.to_thread.run_sync(file.write, piece)
                            on_bytes(done)
        except httpx.HTTPError as error:
            raise LLMError(f"the hub at {self._url} failed: {error!r}", reason="MODEL_UNAVAILABLE") from error
        if done != size:
            remove(target)
            raise LLMError(
                f"the hub at {self._url} sent a file of another size than the catalogue says",
                reason="MODEL_UNAVAILABLE",
            )
        return target


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)
