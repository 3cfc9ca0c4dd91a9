"""Models in the form that vLLM loads: folders of safetensors, published so or made once from GGUF files."""

import os
import shutil
from pathlib import Path

import anyio

from aeond.capabilities.llm.engine.process import clean_environment
from aeond.capabilities.llm.engine.systemd_unit import Start, as_child
from aeond.capabilities.llm.models.catalogue import CatalogueEntry
from aeond.capabilities.llm.models.locking import locked
from aeond.capabilities.llm.models.store import ModelStore, ShowProgress, digest_of, free_bytes_at
from aeond.capabilities.llm.vllm import gguf_converter
from aeond.errors import LLMError, LLMGoneError

CONVERTER = Path(gguf_converter.__file__)
WEIGHTS = "*.safetensors"
# bfloat16 takes about four times the room of weights in four bits.
GROWTH = 4


class ConvertedModels:
    """A ModelFiles over a store of GGUF files. `python` is the interpreter of the engine's environment.

    A model that is published as safetensors is downloaded in that form. Any other is converted once and named by
    the digest of its GGUF file. A folder of the user's own is taken as it is. Several daemons may share `folder`.
    """

    def __init__(self, store: ModelStore, folder: Path, python: Path, start: Start = as_child) -> None:
        self._store = store
        self._folder = folder
        self._python = python
        self._start = start

    def find(self, entry: CatalogueEntry) -> Path | None:
        """The model's folder, or the file that it can be made from."""
        if entry.weights is not None:
            return self._store.folders.find(entry.weights)
        converted = self._folder / entry.digest
        if entry.digest and converted.is_dir():
            return converted
        return own_folder(entry) or self._store.find(entry)

    async def fetch(self, entry: CatalogueEntry, on_progress: ShowProgress) -> Path:
        """Raises LLMError: what the store raises; ENGINE_NOT_INSTALLED, DISK_FULL, MODEL_UNUSABLE."""
        if not self._python.exists():
            raise LLMError(
                f"vLLM is not installed, for there is no {self._python}: run `aeond engine-setup`, or `make engine-setup` "
                "in a checkout, or name its environment in vllm.environment.",
                reason="ENGINE_NOT_INSTALLED",
            )
        self._folder.mkdir(parents=True, exist_ok=True)  # a unit sees only what was there when it started
        found = own_folder(entry)
        if found is not None:
            if not any(found.glob(WEIGHTS)):
                raise LLMError(f"There are no weights ({WEIGHTS}) in {found}.", reason="MODEL_UNUSABLE")
            return found
        if entry.weights is not None:
            return await self._store.folders.fetch(entry.weights, on_progress)
        kept = self._folder / entry.digest
        if entry.digest and kept.is_dir():
            return kept
        source = await self._store.fetch(entry, on_progress)
        kept = self._folder / (entry.digest or await digest_of(source, source.stat().st_size, on_progress))
        if kept.is_dir():
            return kept
        async with locked(self._folder / f".{kept.name}.lock"):
            if not kept.is_dir():  # else another caller converted it first
                await self._convert(source, kept, on_progress)
        return kept

    async def remove_if_damaged(self, entry: CatalogueEntry) -> bool:
        """Removes a damaged file together with the conversion that was made from it."""
        damaged = await self._store.remove_if_damaged(entry)
        if damaged:
            shutil.rmtree(self._folder / entry.digest, ignore_errors=True)
        return damaged

    async def _convert(self, source: Path, kept: Path, on_progress: ShowProgress) -> None:
        needed = GROWTH * source.stat().st_size
        if free_bytes_at(self._folder) < needed:
            raise LLMError(
                f"There is too little room to convert the model in {self._folder}: it needs {needed / 1e6:.0f} MB. "
                "Make room and load it again.",
                reason="DISK_FULL",
            )
        work = self._folder / f".{kept.name}.part"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        command = [
            *(str(self._python), "-P", str(CONVERTER), "--parent", str(os.getpid())),
            *("--source", str(source), "--target", str(work / "model")),
        ]
        environment = clean_environment() | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work), "TMPDIR": str(work)}
        failure: LLMError | None = None
        async with anyio.create_task_group() as tasks:
            try:
                async with self._start(command, work, environment, tasks) as converter:
                    await converter.wait_ready(on_progress)
            except LLMGoneError as gone:
                failure = LLMError(
                    f"{source.name} could not be converted, most likely for want of memory ({gone.message}): it "
                    f"needs about {needed / 1e6:.0f} MB. Close something, or choose a smaller model.",
                    reason="ENGINE_OUT_OF_MEMORY",
                )
            except LLMError as error:
                failure = error
        if failure is None:
            (work / "model").rename(kept)
        shutil.rmtree(work, ignore_errors=True)
        if failure is not None:
            raise failure


def own_folder(entry: CatalogueEntry) -> Path | None:
    """The folder of safetensors that a user named as this model."""
    return next((place for place in entry.places if isinstance(place, Path) and place.is_dir()), None)
