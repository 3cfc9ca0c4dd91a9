"""Digests that were first learned from a hub, kept so that a later download must have the same content."""

import json
import os
from dataclasses import replace
from pathlib import Path

from aeond.capabilities.llm.models.catalogue import CatalogueEntry, HubFile
from aeond.capabilities.llm.models.hub import Hub
from aeond.errors import LLMError

SHA256_HEX = 64


class Pins:
    """Trust on first use: one file for each model of the catalogue that has no digest of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def applied(self, entry: CatalogueEntry) -> CatalogueEntry:
        """The entry with its pinned digest and size; unchanged where it has one or none was pinned."""
        place = _hub_file(entry)
        if place is None:
            return entry
        try:
            noted = json.loads(self._file(entry).read_text())
            if noted["place"] != _described(place):
                return entry
            return replace(entry, digest=str(noted["digest"]), size_bytes=int(noted["size_bytes"]))
        except (OSError, ValueError, KeyError, TypeError):
            return entry

    async def pin(self, entry: CatalogueEntry, hub: Hub) -> CatalogueEntry:
        """The entry with the digest and the size that the hub states, which are noted. LLMError (reason
        MODEL_UNAVAILABLE) where the hub states none."""
        place = _hub_file(entry)
        if place is None:
            return entry
        found = (await hub.listing(place.repository, place.revision)).get(place.file)
        if found is None or len(found.digest) != SHA256_HEX:
            raise LLMError(
                f"the hub states no digest of {place.file} in {place.repository}", reason="MODEL_UNAVAILABLE"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        noted = {"place": _described(place), "digest": found.digest, "size_bytes": found.size_bytes}
        new = self._file(entry).with_suffix(f".{os.getpid()}.new")
        new.write_text(json.dumps(noted))
        new.replace(self._file(entry))
        return replace(entry, digest=found.digest, size_bytes=found.size_bytes)

    def _file(self, entry: CatalogueEntry) -> Path:
        return self._folder / f"{entry.name}.json"


def _hub_file(entry: CatalogueEntry) -> HubFile | None:
    """The hub's file of an entry that has no digest."""
    if entry.digest:
        return None
    return next((place for place in entry.places if isinstance(place, HubFile)), None)


def _described(place: HubFile) -> str:
    return f"{place.repository}/{place.file}@{place.revision}"
