"""Finds the files that a request is about by what they share with it in words and in meaning.

Meaning helps where words do not: in another language than that of the files, or with other names for the same things. It takes a
hundredth of a second for each piece of text, so that it is used only where no file is near by words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, zip_longest
from typing import Final

import anyio

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.previews import file_names
from aeond.capabilities.tools.relevance.related_lines import readable_files, texts_of
from aeond.capabilities.tools.trust import Trusts
from aeond.capabilities.tools.worker_threads import Stopped, WorkerThreads
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.ports.embedding import Embedder, Vector, cosine

MAX_PIECES: Final = 120
MAX_PIECES_OF_FILE: Final = 4
MAX_REQUEST_CHARS: Final = 600
EMBED_SECONDS: Final = 6.0
_PIECE_LINES: Final = 8
_PIECE_CHARS: Final = 500
_BETWEEN_NAMES: Final = re.compile(r"[/._-]+")


@frozen
class FilesByMeaning:
    """Over the files of workspaces that are trusted, and one Embedder. Where that has no weights, or gives no vectors within
    EMBED_SECONDS, and in a workspace of more than MAX_PIECES files, words alone count."""

    files: ContainedFiles
    threads: WorkerThreads
    embedder: Embedder
    trusts: Trusts

    async def nearest(self, workspace: str, request: str) -> tuple[str, ...]:
        """The files that the request is probably about, the likeliest first."""

        def read(stopped: Stopped) -> tuple[Mapping[str, str], Sequence[tuple[str, str]]]:
            found = file_names(self.files, workspace, stopped)
            names = [name for name in found if self.trusts(f"{workspace}/{name}", workspace)]
            texts = texts_of(self.files, workspace, names, stopped)
            return texts, pieces_of(texts)

        texts, pieces = await self.threads.run(read)
        meanings = await self._meanings(request[:MAX_REQUEST_CHARS], pieces)
        return await self.threads.run(lambda _stopped: readable_files(request, texts, meanings))

    async def _meanings(self, request: str, pieces: Sequence[tuple[str, str]]) -> Mapping[str, float]:
        """By path the cosine of the request and the piece that is nearest to it; empty if there are no vectors."""
        vectors: Sequence[Vector] = ()
        if pieces and self.embedder.available:
            with anyio.move_on_after(EMBED_SECONDS), suppress(AeondError):  # the embedder may be busy
                vectors = await self.embedder.embed([request, *(text for _, text in pieces)])
        nearest: dict[str, float] = {}
        for (path, _), vector in zip(pieces, vectors[1:], strict=False):
            nearest[path] = max(nearest.get(path, 0.0), cosine(vectors[0], vector))
        return nearest


def pieces_of(texts: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Pieces of the texts below the words of their names, with their paths: first the beginning of each file; none of more than
    MAX_PIECES files, of which the first would have an advantage."""
    if len(texts) > MAX_PIECES:
        return ()
    by_file = [[(path, piece) for piece in _pieces(path, text)] for path, text in texts.items()]
    in_turn = chain.from_iterable(zip_longest(*by_file))
    return tuple(islice(filter(None, in_turn), MAX_PIECES))


def _pieces(path: str, text: str) -> Iterator[str]:
    lines = text.splitlines()[: _PIECE_LINES * MAX_PIECES_OF_FILE]
    name = _BETWEEN_NAMES.sub(" ", path)
    for first in range(0, len(lines), _PIECE_LINES):
        yield f"{name}: {' '.join(lines[first : first + _PIECE_LINES])[:_PIECE_CHARS]}"
