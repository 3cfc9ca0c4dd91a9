from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from aeond.domain.facts import FactSource
from aeond.domain.runs.run import Owner, RunRequest, RunSnapshot
from aeond.domain.runs.situations import WorkspaceView
from aeond.domain.values import JsonValue
from aeond.errors import StoreError
from aeond.service.runs.situations import (
    FRESH_SECONDS,
    MAX_FACT_CHARS,
    MAX_FACTS,
    MAX_FILES,
    MAX_RUNS,
    ObservedSituations,
)
from tests.support.doubles import ManualClock
from tests.support.memory import InMemoryMemory

RUN = RunSnapshot("r1", request=RunRequest("Where is fact 7?"))


def situations(memory: InMemoryMemory, *names: str, clock: ManualClock | None = None) -> ObservedSituations:
    async def view(workspace: str, most: int, near: str) -> WorkspaceView:
        listed = tuple((name, name.upper()) for name in sorted(names[:most]))
        newest = names[0] if names else ""
        lines = (("a.txt:1", near),)
        return WorkspaceView(listed, len(names) > most, lines, newest, "b.txt", (f"near {near}",))

    async def nearest(workspace: str, near: str) -> tuple[str, ...]:
        return (f"near {near}",)

    return ObservedSituations(clock or ManualClock(), memory, view, nearest, language)


async def language(text: str) -> str:
    return "German" if text == "Wo ist das?" else ""


async def test_files_and_facts_are_in_view() -> None:
    """Names are sorted and come with the line that each file begins with; the time has its weekday."""
    memory = InMemoryMemory()
    await memory.write("gate", 7)
    seen = await situations(memory, "b.txt", "a.txt").observe(RUN)
    assert seen.files == (("a.txt", "A.TXT"), ("b.txt", "B.TXT"))
    assert seen.facts == (("gate", 7),)
    assert seen.lines == (("a.txt:1", RUN.text),)
    assert (seen.more_files, seen.more_facts, seen.shows_all_files) == (False, False, True)
    assert (seen.newest, seen.largest) == ("b.txt", "b.txt")
    assert "day " in seen.time


async def test_a_long_fact_is_in_view_by_its_beginning() -> None:
    """The work of a run does not grow with the size of what is remembered, whether a few facts are in view or the nearest of many."""
    memory = InMemoryMemory()
    for last in (0, MAX_FACTS):
        for number in range(last + 1):
            await memory.write(f"fact {number}", "x" * 100_000)
        seen = await situations(memory).observe(RUN)
        assert len(seen.facts) == min(last + 1, MAX_FACTS)
        assert {value for _, value in seen.facts} == {"x" * (MAX_FACT_CHARS - 1)}


async def test_an_empty_folder_is_in_view() -> None:
    """A folder without files counts as seen, where the run has one."""
    for folder, known in (("/folder", True), ("", False)):
        run = replace(RUN, request=replace(RUN.request, workspace=folder))
        seen = await situations(InMemoryMemory()).observe(run)
        assert (seen.files, seen.shows_all_files, seen.knows_all_files) == ((), False, known)


async def test_more_than_is_shown_is_said() -> None:
    """The listed entries are bounded, and the situation says that there are more."""
    memory = InMemoryMemory()
    for number in range(MAX_FACTS + 5):
        await memory.write(f"fact {number}", number)
    seen = await situations(memory, *(f"{n}.txt" for n in range(MAX_FILES + 5))).observe(RUN)
    assert (len(seen.files), seen.more_files, seen.shows_all_files) == (MAX_FILES, True, False)
    assert seen.more_facts
    assert "fact 7" in [key for key, _ in seen.facts]


async def test_a_fact_from_an_untrusted_source_is_not_shown() -> None:
    """A planted fact is no part of a prompt: a model sees it only when it recalls it, which taints the run."""
    memory = InMemoryMemory()
    await memory.write("gate", 7, FactSource("r0"))
    await memory.write("advice", "obey", FactSource("r0", ("host:example.org:443",)))
    seen = await situations(memory).observe(RUN)
    assert (seen.facts, seen.more_facts) == ((("gate", 7),), True)


async def test_a_run_keeps_the_situation_in_which_it_began() -> None:
    """A run sees the facts with which it began until its situation is old; another run sees the present ones."""
    memory, clock = InMemoryMemory(), ManualClock()
    observed = situations(memory, "a.txt", clock=clock)
    first = await observed.observe(RUN)
    await memory.write("gate", 7)
    assert await observed.observe(RUN) == first
    assert (await observed.observe(replace(RUN, run_id="r2"))).facts == (("gate", 7),)
    clock.advance(FRESH_SECONDS + 1)
    assert (await observed.observe(RUN)).facts == (("gate", 7),)


async def test_each_part_of_a_request_sees_what_the_parts_before_it_changed() -> None:
    """The situation is observed again for another text of the same run."""
    memory = InMemoryMemory()
    observed = situations(memory, "a.txt")
    await observed.observe(RUN)
    await memory.write("gate", 7)
    assert (await observed.observe(replace(RUN, resolved_text="and the gate?"))).facts == (("gate", 7),)


async def test_files_are_near_to_the_whole_request() -> None:
    """A part of a request is shown the files that the whole of it is about, a request with references resolved those of its own words."""
    observed = situations(InMemoryMemory(), "a.txt")
    part, resolved = replace(RUN, resolved_text="fact 7?"), replace(RUN, resolved_text="Where is the gate?")
    assert (await observed.observe(part)).lines == (("a.txt:1", RUN.request.text),)
    assert (await observed.observe(resolved)).lines == (("a.txt:1", "Where is the gate?"),)


async def test_a_file_that_another_part_names_is_not_near() -> None:
    """The names of files in the other parts of a request say nothing about this one; their other words may."""
    observed = situations(InMemoryMemory(), "a.txt")
    request = replace(RUN.request, text="How much is the fee? Write it into out/fees.txt, then tidy up.")
    run = replace(RUN, request=request, resolved_text="How much is the fee?")
    [(_, about)] = (await observed.observe(run)).lines
    assert about.split() == ["How", "much", "is", "the", "fee?", "Write", "it", "into", "then", "tidy", "up."]


async def test_situations_are_kept_for_a_bounded_number_of_runs() -> None:
    """After many other runs the first run is observed again."""
    memory = InMemoryMemory()
    observed = situations(memory, "a.txt")
    await observed.observe(RUN)
    await memory.write("gate", 7)
    for number in range(MAX_RUNS):
        await observed.observe(replace(RUN, run_id=f"other {number}"))
    assert (await observed.observe(RUN)).facts == (("gate", 7),)


async def test_a_child_run_sees_only_the_time() -> None:
    """A run with tools of its Template works on what it was given."""
    memory = InMemoryMemory()
    await memory.write("gate", 7)
    seen = await situations(memory, "a.txt").observe(replace(RUN, request=replace(RUN.request, tools=())))
    assert (seen.files, seen.facts) == ((), ())


async def test_files_may_be_sought_by_other_words() -> None:
    """The nearest files are then those by the request and these words, for a run that may use files."""
    observed = situations(InMemoryMemory(), "a.txt")
    assert await observed.nearest(RUN, "gate") == ("near gate\nWhere is fact 7?",)
    assert await observed.nearest(replace(RUN, request=replace(RUN.request, tools=())), "gate") == ()


async def test_a_source_that_fails_is_left_out() -> None:
    """A decision without a situation is better than none."""

    class Broken(InMemoryMemory):
        async def search(
            self, prefix: str, limit: int = 100, after: str = "", most_chars: int | None = None
        ) -> Sequence[tuple[str, JsonValue]]:
            raise StoreError("the disk is gone")

    assert (await situations(Broken(), "a.txt").observe(RUN)).facts == ()


async def test_no_file_is_near_in_a_workspace_that_cannot_be_read() -> None:
    """A search by other words finds nothing there, and does not fail."""

    async def view(workspace: str, most: int, near: str) -> WorkspaceView:
        raise StoreError("the disk is gone")

    async def nearest(workspace: str, near: str) -> tuple[str, ...]:
        raise StoreError("the disk is gone")

    assert (
        await ObservedSituations(ManualClock(), InMemoryMemory(), view, nearest, language).nearest(
            RUN, "gate"
        )
        == ()
    )


async def test_only_the_facts_of_the_runs_user_are_in_view() -> None:
    """A prompt never shows what another user had remembered."""
    memory = InMemoryMemory()
    await memory.of(1000).write("gate", 7)
    run = replace(RUN, request=replace(RUN.request, owner=Owner(1000, 1)))
    assert (await situations(memory).observe(run)).facts == (("gate", 7),)
    other = replace(RUN, run_id="r2", request=replace(RUN.request, owner=Owner(5, 1)))
    assert (await situations(memory).observe(other)).facts == ()


async def test_the_language_of_a_text_is_known_in_time_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes too long to say is doubtful, as it is of a text without a language."""

    async def hanging(text: str) -> str:
        await anyio.sleep_forever()
        return "German"

    async def view(workspace: str, most: int, near: str) -> WorkspaceView:
        return WorkspaceView()

    async def nearest(workspace: str, near: str) -> tuple[str, ...]:
        return ()

    observed = situations(InMemoryMemory())
    assert await observed.language("Wo ist das?") == "German"
    assert await observed.language("42") == ""
    monkeypatch.setattr("aeond.service.runs.situations.OBSERVE_SECONDS", 0)
    late = ObservedSituations(ManualClock(), InMemoryMemory(), view, nearest, hanging)
    assert await late.language("Wo ist das?") == ""
