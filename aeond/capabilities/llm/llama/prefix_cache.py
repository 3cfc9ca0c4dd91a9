"""Prompts that the engine has read, kept as files: a start then costs the reading of a file."""

import contextlib
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from aeond.domain.values import JsonObject
from aeond.errors import LLMError, LLMGoneError, OverloadedError

KEPT_FILES = 56  # 10 to 90 megabytes each with the default model; there are some 30 kinds of prompts, some with longer ones
READ, TOKENS = ".kv", ".tokens"

logger = logging.getLogger(__name__)


class Poster(Protocol):
    """The part of the engine's client that the cache uses."""

    async def post(self, path: str, body: Mapping[str, Any]) -> JsonObject: ...


class PrefixCache:
    """A folder of read prompts, each named by what was read and by whom.

    `reader` says which model and which engine: what one has read means nothing to another. The engine itself
    writes and reads the files; a file that it does not take is removed. Beside each stand its tokens, so that a new life of the
    engine knows what there is. Nothing here fails a request.
    """

    def __init__(self, folder: Path, reader: str) -> None:
        self._folder = folder
        self._reader = reader

    def kept(self) -> list[Sequence[int]]:
        """The tokens of every prompt on file that this reader has read, the last used last."""
        found: list[Sequence[int]] = []
        for path in sorted(self._folder.glob(f"*{READ}"), key=_last_used):
            with contextlib.suppress(OSError, ValueError):  # none of an older version, or emptied meanwhile
                tokens = json.loads(path.with_suffix(TOKENS).read_text("utf-8"))
                if self._name(tokens) == path.name:
                    found.append(tokens)
        return found

    def holds(self, tokens: Sequence[int]) -> bool:
        """Whether these tokens were read once and are on file."""
        return (self._folder / self._name(tokens)).is_file()

    async def restore(self, client: Poster, slot: int, tokens: Sequence[int]) -> bool:
        """Whether these tokens are now in the slot, from their file."""
        path = self._folder / self._name(tokens)
        if not path.is_file():
            return False
        try:
            answer = await client.post(f"/slots/{slot}?action=restore", {"filename": path.name})
        except LLMGoneError:
            raise
        except OverloadedError:
            return False
        except LLMError as error:
            logger.warning("the read prompt %s cannot be used and is removed: %s", path.name, error.message)
            path.unlink(missing_ok=True)
            return False
        restored = answer.get("n_restored")
        if not isinstance(restored, int) or restored < len(tokens):
            logger.warning("the read prompt %s is not whole and is removed", path.name)
            path.unlink(missing_ok=True)
            return False
        with contextlib.suppress(OSError):  # the folder may be emptied by people
            path.touch()  # the longest unused are removed first
        return True

    async def save(self, client: Poster, slot: int, tokens: Sequence[int]) -> None:
        """Keeps what the slot has read of these tokens, unless it is kept already."""
        path = self._folder / self._name(tokens)
        if path.is_file():
            return
        unfinished = path.with_suffix(".part")
        try:
            await client.post(f"/slots/{slot}?action=save", {"filename": unfinished.name})
            unfinished.replace(path)
            path.with_suffix(TOKENS).write_text(json.dumps(list(tokens)), "utf-8")
        except LLMGoneError:
            raise
        except (LLMError, OverloadedError, OSError) as error:
            logger.warning("a read prompt cannot be kept: %s", error)
        with contextlib.suppress(OSError):
            self._prune(path)

    def _name(self, tokens: Sequence[int]) -> str:
        content = f"{self._reader}\n{','.join(map(str, tokens))}"
        return f"{hashlib.sha256(content.encode()).hexdigest()}{READ}"

    def _prune(self, newest: Path) -> None:
        """Keeps the newest file and those that were used last; nothing unfinished stays."""
        others = sorted((path for path in self._folder.glob(f"*{READ}") if path != newest), key=_last_used)
        kept = {newest.stem, *(path.stem for path in others[1 - KEPT_FILES :])}
        for path in self._folder.iterdir():
            if path.suffix == ".part" or (path.suffix in (READ, TOKENS) and path.stem not in kept):
                path.unlink(missing_ok=True)


def share_read_prompts(folder: Path, other: Path) -> None:
    """Puts all prompts of a daemon's folder into that of another one, unless this belongs to another user. Blocking. What cannot be shared is
    read again."""
    with contextlib.suppress(OSError):
        other.mkdir(mode=0o700, parents=True, exist_ok=True)
        if other.stat().st_uid != os.geteuid():
            return
        for ending in (READ, TOKENS):  # a prompt is known once its tokens are there
            for path in folder.glob(f"*{ending}"):
                if not (shared := other / path.name).exists():
                    with contextlib.suppress(OSError):  # the other daemon removes what looks unfinished
                        _link_or_copy(path, shared)


def _link_or_copy(path: Path, new: Path) -> None:
    """The files of read prompts are replaced, and never changed."""
    try:
        new.hardlink_to(path)
    except OSError:  # on another file system
        unfinished = new.with_suffix(".part")
        shutil.copy2(path, unfinished)
        unfinished.replace(new)


def _last_used(path: Path) -> int:
    """In nanoseconds since 1970; 0 if the file is gone."""
    with contextlib.suppress(OSError):
        return path.stat().st_mtime_ns
    return 0
