"""Read prompts as files: found again, replaced when they are damaged, and never many."""

import errno
import os
from pathlib import Path

import pytest

from aeond.capabilities.llm.llama.prefix_cache import KEPT_FILES, PrefixCache, share_read_prompts
from aeond.domain.llm import Priority
from tests.support.doubles import ManualClock
from tests.support.engine import ask, running_engine
from tests.support.slow_engine import SlowEngine

TOKENS = list(range(300))


@pytest.fixture
def engine(tmp_path: Path) -> SlowEngine:
    engine = SlowEngine(tmp_path, ManualClock(), 1000)
    engine.slots = {0: TOKENS, 1: []}
    return engine


async def test_a_saved_prefix_is_restored_by_the_next_engine(tmp_path: Path, engine: SlowEngine) -> None:
    """A saved prompt is restored into another slot without being read."""
    files = PrefixCache(tmp_path, "model 1")
    assert not await files.restore(engine, 1, TOKENS)
    await files.save(engine, 0, TOKENS)
    assert await PrefixCache(tmp_path, "model 1").restore(engine, 1, TOKENS)
    assert engine.slots[1] == TOKENS
    assert engine.batches == []


async def test_another_model_or_prompt_has_another_file(tmp_path: Path, engine: SlowEngine) -> None:
    """A stored prefix is used neither for another model nor for another prompt."""
    await PrefixCache(tmp_path, "model 1").save(engine, 0, TOKENS)
    assert not await PrefixCache(tmp_path, "model 2").restore(engine, 1, TOKENS)
    assert not await PrefixCache(tmp_path, "model 1").restore(engine, 1, [*TOKENS, 7])


async def test_a_damaged_file_is_removed(tmp_path: Path, engine: SlowEngine) -> None:
    """A file that the engine refuses is gone afterwards, so the prompt is read and kept again."""
    files = PrefixCache(tmp_path, "model 1")
    await files.save(engine, 0, TOKENS)
    (kept,) = tmp_path.glob("*.kv")
    kept.write_bytes(b"\xff")
    assert not await files.restore(engine, 1, TOKENS)
    assert not kept.exists()


async def test_few_files_are_kept(tmp_path: Path, engine: SlowEngine) -> None:
    """Only the newest files stay, and nothing unfinished."""
    files = PrefixCache(tmp_path, "model 1")
    (tmp_path / "cut.part").write_bytes(b"")
    for last in range(KEPT_FILES + 3):
        engine.slots[0] = [*TOKENS, last]
        await files.save(engine, 0, engine.slots[0])
    assert len([*tmp_path.glob("*.kv")]) == KEPT_FILES
    assert len([*tmp_path.iterdir()]) == 2 * KEPT_FILES
    assert files.kept()[-1] == engine.slots[0]
    assert len(files.kept()) == KEPT_FILES
    assert await files.restore(engine, 1, engine.slots[0])


async def test_a_file_with_a_part_of_its_prompt_is_removed(tmp_path: Path, engine: SlowEngine) -> None:
    """What was saved before all of it was read is read again and saved whole, instead of being read at each use."""
    files = PrefixCache(tmp_path, "model 1")
    engine.slots = {0: TOKENS[:-1], 1: []}
    await files.save(engine, 0, TOKENS)
    assert not await files.restore(engine, 1, TOKENS)
    assert not files.holds(TOKENS)
    engine.slots[0] = TOKENS
    await files.save(engine, 0, TOKENS)
    assert await files.restore(engine, 1, TOKENS)


@pytest.mark.parametrize("one_file_system", [True, False])
async def test_read_prompts_are_shared_with_another_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: SlowEngine, one_file_system: bool
) -> None:
    """What one daemon has read another one of the user restores, also from another file system, and keeps after the first one is gone."""
    if not one_file_system:
        monkeypatch.setattr(Path, "hardlink_to", _across)
    files = PrefixCache(tmp_path, "model 1")
    await files.save(engine, 0, TOKENS)
    other = tmp_path / "own" / "prompts"
    for _ in range(2):  # the second time, everything is there
        share_read_prompts(tmp_path, other)
    for path in tmp_path.glob("*.*"):
        path.unlink()
    shared = PrefixCache(other, "model 1")
    another = SlowEngine(other, ManualClock(), 1000)
    another.slots = {1: []}
    assert shared.kept() == [TOKENS]
    assert await shared.restore(another, 1, TOKENS)


async def test_another_users_folder_gets_no_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: SlowEngine
) -> None:
    """Prompts go into no folder of another user, and a folder that cannot be made is no error."""
    await PrefixCache(tmp_path, "model 1").save(engine, 0, TOKENS)
    (tmp_path / "file").touch()
    share_read_prompts(tmp_path, tmp_path / "file" / "prompts")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    share_read_prompts(tmp_path, tmp_path / "others")
    assert [*(tmp_path / "others").iterdir()] == []


def _across(_new: Path, _path: Path) -> None:
    raise OSError(errno.EXDEV, "another file system")


async def test_a_disk_that_takes_nothing_fails_no_request(tmp_path: Path, engine: SlowEngine) -> None:
    """When a file cannot be put in its place the prompt is merely not kept."""
    files = PrefixCache(tmp_path, "model 1")
    engine.slots[0] = []
    await files.save(engine, 0, TOKENS)
    (kept,) = tmp_path.glob("*.kv")
    kept.unlink()
    kept.mkdir()
    await files.save(engine, 0, TOKENS)
    assert [*tmp_path.glob("*.kv")] == [kept]


async def test_what_is_kept_is_known_by_its_tokens(tmp_path: Path, engine: SlowEngine) -> None:
    """The tokens of each file are known to the same reader alone; damaged and missing ones are none."""
    files = PrefixCache(tmp_path, "model 1")
    for last in range(3):
        engine.slots[0] = [*TOKENS, last]
        await files.save(engine, 0, engine.slots[0])
    assert PrefixCache(tmp_path, "model 1").kept() == [[*TOKENS, last] for last in range(3)]
    assert PrefixCache(tmp_path, "model 2").kept() == []
    first, second, _ = sorted(tmp_path.glob("*.tokens"))
    first.write_text("[1", "utf-8")
    second.unlink()
    assert len(files.kept()) == 1


@pytest.mark.model
async def test_a_prompt_read_ahead_outlives_its_engine(tmp_path: Path) -> None:
    """The engine's next life has a prompt that was read ahead before it has read a single token, also for a request that comes
    before anything is read ahead again; a damaged file costs it nothing but the reading."""
    rules = " ".join(f"Rule {number}: be kind." for number in range(40))
    ahead = ask("Hello.", system=rules, max_tokens=1, priority=Priority.BACKGROUND)
    asked = ask("Hello. Who are you?", system=rules, max_tokens=12)
    async with running_engine(tmp_path) as running:
        assert (await running.llm.generate(ahead)).usage.cached_tokens == 0
        (kept,) = (tmp_path / "prompts").glob("*.kv")
        await running.engine.unload()
        again = await running.llm.generate(ahead)
        assert again.usage.cached_tokens == again.usage.prompt_tokens
        answer = await running.llm.generate(asked)
        assert answer.usage.cached_tokens >= 0.9 * answer.usage.prompt_tokens
        assert answer.text.strip()
        await running.engine.unload()
        kept.write_bytes(kept.read_bytes()[:1000])
        assert (await running.llm.generate(ahead)).usage.cached_tokens == 0
        assert [*(tmp_path / "prompts").glob("*.kv")] == [kept]
        await running.engine.unload()
        answer = await running.llm.generate(asked)
        assert answer.usage.cached_tokens >= 0.9 * answer.usage.prompt_tokens
