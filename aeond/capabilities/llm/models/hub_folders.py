"""Models in the form that vLLM loads, downloaded from the hub repository where they are published."""

import functools
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio

from aeond.capabilities.llm.models.catalogue import HubFile, HubFolder
from aeond.capabilities.llm.models.hub import Hub, HubMetadata, size_of
from aeond.capabilities.llm.models.locking import locked
from aeond.errors import LLMError
from aeond.frozen import frozen

Report = Callable[[str, float], None]

# Weights, configuration, tokenizer and chat template: data only. Code of a repository is never downloaded.
SUFFIXES: Final = frozenset({".safetensors", ".json", ".txt", ".model", ".jinja"})
CHUNK_BYTES: Final = 1 << 20

logger = logging.getLogger(__name__)


@frozen
class HubFolders:
    """Repositories below `folder`, each named by its commit. A folder has its name only after every file in it was
    verified against the hub's metadata."""

    folder: Path
    own_folders: Sequence[Path]
    hub: Hub
    free_bytes: Callable[[Path], int]

    def find(self, wanted: HubFolder) -> Path | None:
        """The complete folder, None while it was not downloaded."""
        places = [_path(folder, wanted) for folder in (self.folder, *self.own_folders)]
        return next((place for place in places if place.is_dir()), None)

    async def fetch(self, wanted: HubFolder, on_progress: Report) -> Path:
        """The complete folder, downloaded if need be; an interrupted download is continued.

        Raises LLMError: MODEL_UNAVAILABLE, DISK_FULL.
        """
        if (found := self.find(wanted)) is not None:
            return found
        kept = _path(self.folder, wanted)
        kept.parent.mkdir(parents=True, exist_ok=True)
        async with locked(kept.parent / f".{kept.name}.lock"):
            if not kept.is_dir():
                partial = kept.parent / f".{kept.name}.part"
                partial.mkdir(mode=0o700, exist_ok=True)
                files = _needed(wanted, await self.hub.listing(wanted.repository, wanted.revision))
                self._check_room(files, partial)
                logger.info("downloading the repository %s", wanted.repository)
                await self._download(wanted, files, partial, on_progress)
                partial.chmod(0o755)
                partial.rename(kept)
        return kept

    async def _download(
        self, wanted: HubFolder, files: Mapping[str, HubMetadata], partial: Path, on_progress: Report
    ) -> None:
        total, done = max(sum(meta.size_bytes for meta in files.values()), 1), 0
        for name, meta in sorted(files.items()):
            target = partial / name
            if not await _is_intact(target, meta):
                await self.hub.get(
                    HubFile(wanted.repository, name, wanted.revision),
                    target,
                    meta.size_bytes,
                    functools.partial(_report, on_progress, done, total),
                )
                if not await _is_intact(target, meta):
                    target.unlink()
                    raise LLMError(
                        f"{name} of {wanted.repository} differs from the hub's own metadata; it was removed.",
                        reason="MODEL_UNAVAILABLE",
                    )
                target.chmod(0o644)
            done += meta.size_bytes

    def _check_room(self, files: Mapping[str, HubMetadata], partial: Path) -> None:
        needed = sum(
            meta.size_bytes - min(size_of(partial / name), meta.size_bytes) for name, meta in files.items()
        )
        free = self.free_bytes(self.folder)
        if free < needed:
            raise LLMError(
                f"The model does not fit into {self.folder}: it needs {needed / 1e6:.0f} MB and {free / 1e6:.0f} "
                "MB are free. Free some space and load it again; the part that is there is kept.",
                reason="DISK_FULL",
            )


def _report(on_progress: Report, before: int, total: int, count: int) -> None:
    on_progress("downloading", min((before + count) / total, 1.0))


def _path(folder: Path, wanted: HubFolder) -> Path:
    return folder / "hub" / wanted.repository.replace("/", "--") / wanted.revision


def _needed(wanted: HubFolder, listing: Mapping[str, HubMetadata]) -> dict[str, HubMetadata]:
    files = {name: meta for name, meta in listing.items() if Path(name).suffix in SUFFIXES}
    if not any(name.endswith(".safetensors") for name in files):
        raise LLMError(f"The repository {wanted.repository} has no safetensors.", reason="MODEL_UNAVAILABLE")
    return files


async def _is_intact(path: Path, meta: HubMetadata) -> bool:
    """Whether the file has the content that the hub states: by its sha256, or its object id in git."""
    if size_of(path) != meta.size_bytes or not path.is_file():
        return False

    def computed() -> str:
        header = f"blob {meta.size_bytes}\0".encode()  # of git's object id, which is a SHA-1
        digest = hashlib.sha256() if meta.digest else hashlib.sha1(header, usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                anyio.from_thread.check_cancelled()
        return digest.hexdigest()

    return await anyio.to_thread.run_sync(computed) == (meta.digest or meta.git_id)
