"""Proposed changes of files, kept under the digest of their content until they are applied."""

import base64
import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from aeond.domain.values import canonical_json
from aeond.errors import ToolError

MAX_KEPT: Final = 64  # proposals; the oldest go first
DIGEST_CHARS: Final = 32


class FileProposal(BaseModel):
    """The content of one file in base64 (None: it is deleted). `before` is the identity of the file that it replaces, ""
    for none."""

    path: str
    before: str
    content: str | None

    @property
    def after(self) -> bytes | None:
        return None if self.content is None else base64.b64decode(self.content)


class Proposal(BaseModel):
    """Changes of files in one workspace for one user. `call_id` is the call that made it, `taint` names the untrusted sources
    that its run had read."""

    uid: int
    workspace: str
    call_id: str
    message: str
    files: tuple[FileProposal, ...]
    result: dict[str, Any]
    taint: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The name of the proposal: it covers everything that is applied."""
        covered: list[Any] = [
            self.uid,
            self.workspace,
            self.message,
            [one.model_dump() for one in self.files],
        ]
        return sha256(canonical_json(covered).encode()).hexdigest()[:DIGEST_CHARS]


def proposed(path: str, before: str, after: bytes | None) -> FileProposal:
    content = None if after is None else base64.b64encode(after).decode()
    return FileProposal(path=path, before=before, content=content)


class Proposals:
    """The proposals in a folder that only the daemon may use. All methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, proposal: Proposal) -> str:
        """Stores it durably: its digest."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = self._folder / f"{proposal.digest}.json"
        draft = place.with_suffix(".part")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(proposal.model_dump(), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        for old in self._newest()[MAX_KEPT:]:
            old.unlink(missing_ok=True)
        return proposal.digest

    def find(self, digest: str, uid: int) -> Proposal:
        """The proposal of this user. ToolError (reason PROPOSAL_NOT_FOUND)."""
        proposal = self._read(self._folder / f"{digest}.json")
        if proposal is None or proposal.digest != digest or proposal.uid != uid:
            raise ToolError(
                f"there is no proposal {digest}: let aider make one",
                reason="PROPOSAL_NOT_FOUND",
                field="proposal",
            )
        return proposal

    def made_by(self, call_id: str, uid: int) -> Proposal | None:
        """The proposal that this call made earlier, before a crash."""
        found = (self._read(place) for place in self._newest())
        return next((one for one in found if one and (one.call_id, one.uid) == (call_id, uid)), None)

    def latest(self, uid: int, workspace: str, limit: int) -> Sequence[str]:
        """The digests of this user's proposals for a workspace, the newest first."""
        found = (self._read(place) for place in self._newest())
        mine = [one.digest for one in found if one and (one.uid, one.workspace) == (uid, workspace)]
        return mine[:limit]

    def _newest(self) -> list[Path]:
        places = self._folder.glob("*.json")
        return sorted(places, key=lambda place: (place.stat().st_mtime_ns, place), reverse=True)

    def _read(self, place: Path) -> Proposal | None:
        try:
            return Proposal.model_validate_json(place.read_bytes())
        except (OSError, ValidationError):
            return None
