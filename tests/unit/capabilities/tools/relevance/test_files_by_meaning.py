from collections.abc import Sequence
from pathlib import Path

import pytest

from aeond.capabilities.tools.files.contained_files import ContainedFiles
from aeond.capabilities.tools.files.safe_open import resolve_in_kernel
from aeond.capabilities.tools.relevance.files_by_meaning import (
    MAX_PIECES,
    MAX_PIECES_OF_FILE,
    FilesByMeaning,
    pieces_of,
)
from aeond.capabilities.tools.worker_threads import WorkerThreads
from aeond.errors import OverloadedError
from aeond.ports.embedding import Vector
from tests.support.embedders import WordEmbedder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "boat").mkdir()
    (tmp_path / "boat" / "engine.log").write_text("start\n\npressure low\nstop\n")
    (tmp_path / "rules.md").write_text("No noise after ten.\nA guest pays 3 euros.\n")
    (tmp_path / "hidden.md").write_text("Noises, noisy guests.\n")
    return tmp_path


def over(embedder: WordEmbedder, *untrusted: str) -> FilesByMeaning:
    files = ContainedFiles(resolve_in_kernel)
    return FilesByMeaning(files, WorkerThreads(), embedder, lambda path, _: Path(path).name not in untrusted)


async def test_a_file_that_is_near_in_meaning_is_found(folder: Path) -> None:
    """The file with the nearest piece comes first, though words alone would name none; untrusted files are not looked at."""

    class Translating(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
            return await super().embed([text.replace("gość", "a guest pays") for text in texts])

    embedder = Translating()
    assert await over(embedder, "hidden.md").nearest(str(folder), "gość") == ("rules.md",)
    assert not any("noisy" in text for text in embedder.calls[0])


@pytest.mark.parametrize("available", [True, False])
async def test_without_vectors_words_alone_count(folder: Path, *, available: bool) -> None:
    """Where the embedder has no weights, or cannot read them, the nearest file is that by words, and none if they share too little."""
    embedder = WordEmbedder(available=available)
    embedder.gives = False
    found = over(embedder, "hidden.md")
    assert await found.nearest(str(folder), "noisily") == ()
    assert await found.nearest(str(folder), "pressure in engine.log") == ("boat/engine.log",)


async def test_a_busy_embedder_leaves_the_words(folder: Path) -> None:
    """Where the embedder rejects the texts, the nearest file is that by words."""

    class Busy(WordEmbedder):
        async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
            raise OverloadedError("too many wait", reason="EMBEDDER_BUSY")

    assert await over(Busy()).nearest(str(folder), "pressure in engine.log") == ("boat/engine.log",)


async def test_an_empty_folder_has_no_file(tmp_path: Path) -> None:
    """Nothing is embedded where there are no texts."""
    embedder = WordEmbedder()
    assert await over(embedder).nearest(str(tmp_path), "noise") == ()
    assert embedder.calls == []


def test_pieces_are_bounded() -> None:
    """Every file has its beginning among the pieces before any has a second one, below the words of its name."""
    texts = {f"dir/{number}.txt": "word\n" * 400 for number in range(MAX_PIECES - 1)}
    pieces = pieces_of(texts)
    assert len(pieces) == MAX_PIECES
    assert len({path for path, _ in pieces}) == MAX_PIECES - 1
    assert pieces[0][1].startswith("dir 0 txt: word word")
    assert len(pieces_of({"a.txt": "word\n" * 400})) == MAX_PIECES_OF_FILE
    assert pieces_of({f"{number}.txt": "word" for number in range(MAX_PIECES + 1)}) == ()
