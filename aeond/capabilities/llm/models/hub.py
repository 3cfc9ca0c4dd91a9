"""Downloads files from a model hub by the hubs' common scheme of addresses."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio

from aeond.capabilities.llm.models.catalogue import HubFile
from aeond.errors import LLMError
from aeond.frozen import frozen

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
MAX_LISTING_BYTES = 1 << 20


@frozen
class HubMetadata:
    """The hub's metadata of one file. `digest` is the sha256 of its content, "" for a small file kept in git, whose
    `git_id` is its object id there."""

    size_bytes: int
    digest: str
    git_id: str


class Hub:
    """A model hub at `url`, such as `https://hub.example`; "" for none, which has nothing.

    `token` authenticates where the hub requires it; it is never sent to a host that the hub redirects to.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self._url = url.rstrip("/")
        self._token = token

    async def listing(self, repository: str, revision: str) -> Mapping[str, HubMetadata]:
        """The files in the top folder of a repository, by name. LLMError (reason MODEL_UNAVAILABLE)."""
        if not self._url:
            raise no_hub()
        import httpx

        address = f"{self._url}/api/models/{repository}/tree/{revision}"
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        body = b""
        try:
            async with (
                httpx.AsyncClient(timeout=timeout, follow_redirects=True) as http,
                http.stream("GET", address, headers=self._credentials()) as response,
            ):
                response.raise_for_status()
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > MAX_LISTING_BYTES:
                        raise unlisted(repository, "it is too long")
        except httpx.HTTPError as error:
            raise LLMError(f"the hub at {self._url} failed: {error!r}", reason="MODEL_UNAVAILABLE") from error
        return read_listing(repository, body)

    def _credentials(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"} if self._token else {}

    async def get(self, wanted: HubFile, target: Path, size: int, on_bytes: Callable[[int], None]) -> Path:
        """Writes the file to `target`, going on after what is there already; returns `target`.

        Raises LLMError (reason MODEL_UNAVAILABLE) at once when there is no hub, within seconds when it cannot
        be reached, and when the file is not `size` bytes long.
        """
        if not self._url:
            raise no_hub()
        import httpx

        address = f"{self._url}/{wanted.repository}/resolve/{wanted.revision}/{wanted.file}"
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        try:
            async with httpx.AsyncClient(timeout=timeout, follow_redirects=True) as http:
                here = size_of(target)
                headers = self._credentials()
                if 0 < here < size:
                    headers["range"] = f"bytes={here}-"
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
            target.unlink(missing_ok=True)
            raise LLMError(
                f"the hub at {self._url} sent a file of another size than expected",
                reason="MODEL_UNAVAILABLE",
            )
        return target


def read_listing(repository: str, body: bytes) -> dict[str, HubMetadata]:
    """Only names that are plain file names are listed."""
    try:
        return {
            str(entry["path"]): HubMetadata(
                int(entry["size"]), str((entry.get("lfs") or {}).get("oid", "")), str(entry.get("oid", ""))
            )
            for entry in json.loads(body)
            if entry["type"] == "file" and Path(entry["path"]).name == entry["path"]
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise unlisted(repository, f"it has an unexpected form: {error!r}") from error


def no_hub() -> LLMError:
    return LLMError("no model hub is configured (model.hub_url)", reason="MODEL_UNAVAILABLE")


def unlisted(repository: str, why: str) -> LLMError:
    return LLMError(f"the hub's listing of {repository} cannot be used: {why}", reason="MODEL_UNAVAILABLE")


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
