"""How prompts are cut into batches, and which slot each one gets."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.llama.prefill import Prefill, ReadPrompt
from aeond.capabilities.llm.llama.prefix_cache import PrefixCache
from aeond.domain.llm import EngineState, LLMRequest, Priority
from aeond.domain.values import JsonObject
from aeond.errors import LLMError
from tests.support.doubles import ManualClock
from tests.support.engine import ask, running_engine
from tests.support.slow_engine import SlowEngine

LONG = list(range(1000, 1400))
OTHER = list(range(5000, 5400))
AHEAD = ask("x", max_tokens=1, priority=Priority.BACKGROUND)


class World:
    """A prefill of two slots over a slow engine, in batches of about a second."""

    def __init__(self, folder: Path, tokens_per_second: float = 100) -> None:
        clock = ManualClock()
        self.engine = SlowEngine(folder, clock, tokens_per_second)
        self.shown: list[float] = []
        self.prefill = Prefill(
            self.engine,
            clock,
            PrefixCache(folder, "test"),
            slots=2,
            most=512,
            batch_seconds=1.0,
            show=self.shown.append,
        )

    async def read(
        self, tokens: Sequence[int], request: LLMRequest | None = None, fixed: Sequence[int] = ()
    ) -> ReadPrompt:
        async with self.prefill.read(tokens, request or ask("x"), fixed) as prompt:
            return prompt

    async def read_ahead(self, tokens: Sequence[int]) -> None:
        """As the adapter does: the last batch is read by the call that asks for one token."""
        async with self.prefill.read(tokens, AHEAD) as prompt:
            await self.engine.post("/completion", {"id_slot": prompt.slot, "prompt": tokens})


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_batch_lasts_about_as_long_as_configured(world: World) -> None:
    """From the second batch on the size follows the measured speed, a quarter more at most, in steps of 16; the caller reads the last one."""
    await world.read(LONG)
    sizes = [size for _, size in world.engine.batches]
    assert sizes == [80, 112, 112]
    assert len(LONG) - sum(sizes) == 96


@pytest.mark.parametrize(("tokens", "sizes"), [(400, [80, 32, 32]), (121, [64, 32])])
async def test_a_batch_has_a_least_size(world: World, tokens: int, sizes: list[int]) -> None:
    """On a slow machine all batches but the last stay large enough to use the processor well, though they last longer."""
    world.engine.tokens_per_second = 5
    await world.read(LONG[:tokens])
    assert [size for _, size in world.engine.batches[:3]] == sizes


async def test_a_batch_at_most_doubles(tmp_path: Path) -> None:
    """On a fast machine the batch doubles up to the engine's own batch."""
    world = World(tmp_path, tokens_per_second=1e9)
    await world.read(range(2000))
    assert [size for _, size in world.engine.batches] == [80, 160, 304, 496, 480]


async def test_a_few_tokens_are_no_batch_of_their_own(tmp_path: Path) -> None:
    """A prompt that is little longer than a batch is read at once, by the caller; none is longer than the engine's own batch."""
    world = World(tmp_path, tokens_per_second=100)
    await world.read(LONG)
    world.engine.batches.clear()
    await world.read(OTHER[:110])
    assert world.engine.batches == []
    world.engine.tokens_per_second = 1e9
    await world.read(range(10_000, 15_000))
    world.engine.batches.clear()
    await world.read(range(20_000, 20_600))
    assert [size for _, size in world.engine.batches] == [304]


async def test_two_prompts_take_turns(world: World) -> None:
    """A prompt that comes while a long one is read waits for one batch, not for the whole prompt."""
    world.engine.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.read, LONG)
        await world.engine.began.wait()
        tasks.start_soon(world.read, OTHER[:220])
        await anyio.wait_all_tasks_blocked()
        world.engine.gate.set()
    assert [slot for slot, _ in world.engine.batches] == [0, 1, 0, 1, 0]


async def test_a_prompt_goes_where_its_beginning_was_read(world: World) -> None:
    """Only the new part of a prompt is read, and the number of cached tokens is reported."""
    first = await world.read(LONG)
    other = await world.read(OTHER)
    assert (first.known_tokens, other.known_tokens) == (0, 0)
    assert other.slot != first.slot
    again = await world.read([*LONG, 1, 2, 3])
    assert (again.slot, again.known_tokens) == (first.slot, len(LONG))


async def test_an_opening_on_file_is_not_read_again(world: World) -> None:
    """Two requests at once that begin alike: the second gets its beginning from the file, in another slot."""
    opening = LONG[:300]
    await world.read_ahead(opening)
    async with world.prefill.read([*opening, *OTHER[:50]], ask("x")) as first:
        second = await world.read([*opening, *OTHER[50:100]])
    assert first.slot != second.slot
    assert (first.known_tokens, second.known_tokens) == (300, 300)


async def test_what_never_changes_is_read_once(world: World) -> None:
    """The fixed part of a prompt is kept as a file, so that it is not read again after other prompts have taken all slots;
    what belongs to one request alone is not kept."""
    fixed = [*LONG, 8, 9]  # ends as a prompt does
    await world.read([*LONG, 1, 2, 3], fixed=fixed)
    assert world.engine.files() == [LONG]
    for other in (OTHER, list(range(9000, 9400))):
        await world.read(other)
    world.engine.batches.clear()
    prompt = await world.read([*LONG, 4, 5, 6], fixed=fixed)
    assert prompt.known_tokens == len(LONG)
    assert world.engine.batches == []


async def test_what_prompts_have_in_common_below_their_opening_is_read_once(world: World) -> None:
    """What three prompts have in common below their opening is kept as a file as well, whatever others have there and whatever the time is."""
    fixed = [*LONG, 8, 9]
    others = (OTHER, list(range(9000, 9400)))

    async def known(facts: Sequence[int], request: int) -> int:
        for other in others:  # they take all slots
            await world.read(other)
        return (await world.read([*LONG, *facts, 7, request // 3, request], fixed=fixed)).known_tokens

    facts, files = list(range(96)), list(range(200, 328))
    await known(facts, 500)
    for request in (501, 502):
        assert await known(facts, request) == await known(files, request) == len(LONG)
    assert await known(files, 503) == len(LONG)
    assert sorted(world.engine.files(), key=len) == [LONG, [*LONG, *facts], [*LONG, *files]]
    for request in (504, 505):
        assert await known(facts, request) == len(LONG) + len(facts)
        assert await known(files, request) == len(LONG) + len(files)


async def test_a_few_tokens_below_an_opening_are_not_kept(world: World) -> None:
    """What prompts have in common below their opening is no file of its own if it is read within a second."""
    for request in range(500, 504):
        await world.read([*LONG, *range(40), request], fixed=[*LONG, 8])
    assert world.engine.files() == [LONG]


async def test_another_conversation_keeps_its_slot(world: World) -> None:
    """A prompt that shares only a saved opening with a slot goes to the other one, and what follows the opening in the first stays."""
    opening = LONG[:300]
    await world.read_ahead(opening)
    one, other = [*opening, *OTHER[:80]], [*opening, *OTHER[100:180]]
    first = await world.read(one)
    assert (await world.read(other)).slot != first.slot
    again = await world.read([*one, 1])
    assert (again.slot, again.known_tokens) == (first.slot, len(one))


async def test_short_questions_do_not_cost_a_conversation_its_slot(world: World) -> None:
    """However many questions with saved openings are asked between two turns, what a long conversation has read stays."""
    openings = [list(range(start, start + 200)) for start in (9000, 9300, 9600)]
    for opening in openings:
        await world.read_ahead(opening)
    first = await world.read(LONG)
    for number in range(3):
        for opening in openings:
            await world.read([*opening, number], fixed=opening)
    again = await world.read([*LONG, 1])
    assert (again.slot, again.known_tokens) == (first.slot, len(LONG))


async def test_no_conversation_keeps_its_slot_for_ever(world: World) -> None:
    """A conversation that does not go on gives way in time to conversations that each have less."""
    await world.read(LONG)
    for number in range(3):
        start = 10_000 * (number + 1)
        await world.read(list(range(start, start + len(LONG) // 2)))
    assert (await world.read([*LONG, 1])).known_tokens == 0


async def test_openings_that_begin_alike_do_not_cost_each_other_what_was_read(world: World) -> None:
    """A prompt whose opening is in no slot gets it from the file, although a slot has a part of it."""
    plan, route = [*LONG[:100], *range(300)], [*LONG[:100], *range(300, 600)]
    await world.read_ahead(plan)
    await world.read_ahead(route)
    await world.read(OTHER)  # where the plan's was
    for opening in (plan, route, plan):
        assert (await world.read([*opening, 1])).known_tokens >= len(opening)


async def test_who_asks_while_an_opening_is_kept_waits_for_it(world: World) -> None:
    """A prompt that begins like what was just read ahead goes to its slot, also while that is being kept."""
    kept, found = anyio.Event(), []

    async def ahead() -> None:
        async with world.prefill.read(LONG, AHEAD):
            await kept.wait()

    async def asked() -> None:
        found.append(await world.read([*LONG, 1]))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ahead)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(asked)
        await anyio.wait_all_tasks_blocked()
        assert not found
        kept.set()
    assert [(prompt.slot, prompt.known_tokens) for prompt in found] == [(0, len(LONG))]


async def test_a_few_common_tokens_do_not_cost_another_prompt_its_slot(world: World) -> None:
    """Prompts that only begin with the same template go to the longest unused slot."""
    first = await world.read(LONG)
    second = await world.read(LONG[:4] + OTHER)
    assert second.slot != first.slot
    assert (await world.read(LONG)).known_tokens == len(LONG)


async def test_a_short_prompt_does_not_take_the_slot_of_a_long_one(world: World) -> None:
    """A prompt that shares its few tokens with a long one leaves what was read of that."""
    first = await world.read(LONG)
    second = await world.read(LONG[:10] + OTHER[:10])
    assert second.slot != first.slot
    assert (await world.read(LONG)).known_tokens == len(LONG)


async def test_who_finds_no_free_slot_waits(world: World) -> None:
    """A slot belongs to one request until that one has ended."""
    async with anyio.create_task_group() as tasks, AsyncExitStack() as held:
        slots = {
            (await held.enter_async_context(world.prefill.read(tokens, ask("x")))).slot
            for tokens in (LONG, OTHER)
        }
        assert slots == {0, 1}
        done = anyio.Event()

        async def third() -> None:
            await world.read(LONG[:50])
            done.set()

        tasks.start_soon(third)
        await anyio.wait_all_tasks_blocked()
        assert not done.is_set()
        await held.aclose()
        with anyio.fail_after(60):
            await done.wait()


async def test_after_a_failure_nothing_is_taken_for_read(world: World) -> None:
    """After a failed call the prefix of its slot is read again."""
    await world.read(LONG)
    with pytest.raises(LLMError):
        async with world.prefill.read(LONG, ask("x")):
            raise LLMError("the engine's own trouble")
    assert (await world.read(LONG)).known_tokens == 0


async def test_a_cancelled_reading_keeps_what_was_read(world: World) -> None:
    """The next request goes on where a cancelled one stopped."""
    with anyio.CancelScope() as scope:
        async with world.prefill.read(LONG[:100], ask("x")):
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert (await world.read(LONG)).known_tokens == 64


async def test_reading_ahead_gives_way_between_two_batches(world: World) -> None:
    """A request that must not wait gets the slot that is being read ahead, with all that was read so far;
    the rest is read once it has ended."""
    world.engine.gate = anyio.Event()
    done = anyio.Event()

    async def ahead() -> None:
        async with world.prefill.read(LONG, AHEAD):
            done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ahead)
        await world.engine.began.wait()
        async with AsyncExitStack() as asked:
            tasks.start_soon(_open_gate, world)
            prompt = await asked.enter_async_context(world.prefill.read(LONG, ask("x")))
            assert prompt.known_tokens == 80  # the batch that had begun
            assert not done.is_set()
        with anyio.fail_after(60):
            await done.wait()
        tasks.cancel_scope.cancel()
    assert {slot for slot, _ in world.engine.batches} == {0}


@pytest.mark.parametrize("cancelled", [False, True])
async def test_prompts_that_arrive_together_read_their_opening_once(
    world: World, monkeypatch: pytest.MonkeyPatch, *, cancelled: bool
) -> None:
    """One of them reads it and the other continues from there, also when the first is cancelled in the middle."""
    opening, known, first = LONG[:300], list[int](), anyio.CancelScope()
    post = world.engine.post

    async def cancelling(path: str, body: Mapping[str, object]) -> JsonObject:
        answer = await post(path, body)
        if cancelled and len(world.engine.batches) == 2:
            first.cancel()
        return answer

    async def ask_with(ending: Sequence[int], scope: anyio.CancelScope) -> None:
        with scope:
            known.append((await world.read([*opening, *ending])).known_tokens)

    monkeypatch.setattr(world.engine, "post", cancelling)
    world.engine.gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.read, opening, AHEAD)
        await world.engine.began.wait()
        tasks.start_soon(ask_with, OTHER[:20], first)
        tasks.start_soon(ask_with, OTHER[50:70], anyio.CancelScope())
        await anyio.wait_all_tasks_blocked()
        world.engine.gate.set()
    assert sum(new for _, new in world.engine.batches) <= len(opening) + 2 * 20
    assert known == ([80 + 112] if cancelled else [80, len(opening)])


async def _open_gate(world: World) -> None:
    await anyio.wait_all_tasks_blocked()
    world.engine.gate.set()


async def test_progress_of_reading_ahead_is_shown(world: World) -> None:
    """Reading a prompt ahead shows its progress from start to end; reading one for a request shows none."""
    await world.read(LONG, AHEAD)
    assert world.shown == sorted(world.shown)
    assert (world.shown[0], world.shown[-1]) == (0.0, 1.0)
    world.shown.clear()
    await world.read(OTHER)
    assert world.shown == []


async def test_prompts_that_are_read_ahead_do_not_push_each_other_out(world: World) -> None:
    """Two beginnings that begin alike each get a slot, and both are found by what begins like them."""
    plan = [*LONG[:300], *OTHER[:100]]
    first, second = await world.read(LONG, AHEAD), await world.read(plan, AHEAD)
    assert first.slot != second.slot
    assert (await world.read([*LONG, 1])).slot == first.slot
    assert (await world.read([*plan, 1])).known_tokens == len(plan)


async def test_reading_ahead_replaces_the_oldest_prefix(tmp_path: Path) -> None:
    """With more beginnings than slots the longest unused one goes."""
    world = World(tmp_path)
    for start in (0, 10_000, 20_000):
        read = await world.read(list(range(start, start + 200)), AHEAD)
    assert (await world.read([*range(20_000, 20_200), 1])).slot == read.slot


@pytest.mark.model
async def test_an_engine_unloaded_while_it_reads_ahead_stays_unloaded(tmp_path: Path) -> None:
    """Reading ahead ends with the engine's life and does not begin another."""
    rules = " ".join(f"Rule {number}: be kind." for number in range(200))
    refused: list[LLMError] = []

    async def ahead() -> None:
        try:
            await running.llm.generate(
                ask("Hello.", system=rules, max_tokens=1, priority=Priority.BACKGROUND)
            )
        except LLMError as error:
            refused.append(error)

    async with running_engine(tmp_path) as running, anyio.create_task_group() as tasks:
        tasks.start_soon(ahead)
        with anyio.fail_after(60):
            while running.engine.snapshot().activity != "reading ahead":
                await anyio.lowlevel.checkpoint()
        await running.engine.unload()
        with anyio.fail_after(60):
            while not refused:
                await anyio.lowlevel.checkpoint()
        assert running.engine.snapshot().state is EngineState.COLD
    assert [error.reason for error in refused] == ["LLM_GONE"]
