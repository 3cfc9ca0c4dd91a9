"""How prompts are cut into pieces, and who gets which slot."""

import itertools
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from aeond.capabilities.llm.prompt_files import PromptFiles
from aeond.capabilities.llm.prompt_reading import PromptReading, ReadPrompt
from aeond.domain.llm import EngineState, LLMRequest, Priority
from aeond.errors import LLMError
from tests.support.doubles import ManualClock
from tests.support.engine import ask, running_engine
from tests.support.slow_engine import SlowEngine

LONG = list(range(1000, 1400))
OTHER = list(range(5000, 5400))
AHEAD = ask("x", max_tokens=1, priority=Priority.BACKGROUND)


class World:
    """A reading of two slots over a slow engine; pieces are to last a tenth of a second."""

    def __init__(self, folder: Path, tokens_per_second: float = 100) -> None:
        clock = ManualClock()
        self.engine = SlowEngine(folder, clock, tokens_per_second)
        self.shown: list[float] = []
        self.reading = PromptReading(
            self.engine,
            clock,
            PromptFiles(folder, "test"),
            slots=2,
            most=64,
            piece_seconds=0.1,
            show=self.shown.append,
        )

    async def read(self, tokens: Sequence[int], request: LLMRequest | None = None) -> ReadPrompt:
        async with self.reading.read(tokens, request or ask("x")) as prompt:
            return prompt

    async def read_ahead(self, tokens: Sequence[int]) -> None:
        """As the adapter does: the last piece is read by the call that asks for one token."""
        async with self.reading.read(tokens, AHEAD) as prompt:
            await self.engine.post("/completion", {"id_slot": prompt.slot, "prompt": tokens})


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_pieces_grow_to_what_the_machine_reads_in_time(world: World) -> None:
    """The first piece is small, and from then on each lasts as long as a cancel may take."""
    await world.read(LONG)
    sizes = [size for _, size in world.engine.pieces]
    assert sizes[:3] == [4, 8, 10]
    assert set(sizes[2:]) == {10}
    assert len(LONG) - sum(sizes) in range(1, 11)


async def test_a_slower_machine_gets_smaller_pieces_at_once(world: World) -> None:
    """When reading becomes slower the next piece already is as small as it has to be, down to a single token."""
    await world.read(LONG)
    world.engine.tokens_per_second = 5
    await world.read(OTHER)
    assert {size for _, size in world.engine.pieces[-30:]} == {1}


async def test_two_tokens_are_tried_again_where_one_is_read_in_time(world: World) -> None:
    """A slow moment does not leave the engine with single tokens for ever: two take less than twice as long."""
    world.engine.call_seconds, world.engine.tokens_per_second = 0.06, 20
    await world.read(LONG[:20])
    assert [size for _, size in world.engine.pieces[-2:]] == [1, 1]
    world.engine.tokens_per_second = 50  # one token takes 80 ms, two take 100
    await world.read(OTHER)
    assert [size for _, size in world.engine.pieces[-20:]] == [2] * 20


async def test_two_tokens_that_took_too_long_are_tried_less_often(world: World) -> None:
    """Each try that took too long doubles the single tokens before the next."""
    world.engine.call_seconds, world.engine.tokens_per_second = (
        0.04,
        20,
    )  # one token takes 90 ms, two take 140
    await world.read(LONG)
    tries = [place for place, (_, size) in enumerate(world.engine.pieces) if size > 1]
    assert [b - a - 1 for a, b in itertools.pairwise(tries)] == [128, 256]


async def test_the_words_of_others_do_not_make_pieces_smaller(world: World) -> None:
    """Beside a request that writes a piece takes longer, and stays as large as the engine reads alone in time."""
    async with world.reading.read(LONG, ask("x")):
        world.engine.call_seconds = 0.5
        await world.read(OTHER[:100])
    assert [size for slot, size in world.engine.pieces if slot == 1] == [10] * 9
    world.engine.call_seconds = 0.05  # which is the engine's own now: it takes that for itself alone
    await world.read([*OTHER[:100], *LONG])
    assert world.engine.pieces[-2][1] in (4, 5)


async def test_a_piece_has_a_bound(tmp_path: Path) -> None:
    """However fast the machine, a piece is no larger than one batch of the engine."""
    world = World(tmp_path, tokens_per_second=1e9)
    await world.read(LONG)
    assert max(size for _, size in world.engine.pieces) == 64


async def test_a_prompt_goes_where_its_beginning_was_read(world: World) -> None:
    """Only what is new is read, and what was known is told."""
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
    async with world.reading.read([*opening, *OTHER[:50]], ask("x")) as first:
        second = await world.read([*opening, *OTHER[50:100]])
    assert first.slot != second.slot
    assert (first.known_tokens, second.known_tokens) == (300, 300)


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
        async with world.reading.read(LONG, AHEAD):
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


async def test_who_finds_no_free_slot_waits(world: World) -> None:
    """A slot belongs to one request until that one has ended."""
    async with anyio.create_task_group() as tasks, AsyncExitStack() as held:
        slots = {
            (await held.enter_async_context(world.reading.read(tokens, ask("x")))).slot
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
    """What a slot held when a call failed is read again."""
    await world.read(LONG)
    with pytest.raises(LLMError):
        async with world.reading.read(LONG, ask("x")):
            raise LLMError("the engine's own trouble")
    assert (await world.read(LONG)).known_tokens == 0


async def test_a_cancelled_reading_keeps_what_was_read(world: World) -> None:
    """The next request goes on where a cancelled one stopped."""
    with anyio.CancelScope() as scope:
        async with world.reading.read(LONG[:100], ask("x")):
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert (await world.read(LONG)).known_tokens >= 90


async def test_reading_ahead_gives_way_between_two_pieces(world: World) -> None:
    """A request that must not wait gets the slot that is being read ahead, with all that was read so far;
    the rest is read once it has ended."""
    world.engine.gate = anyio.Event()
    done = anyio.Event()

    async def ahead() -> None:
        async with world.reading.read(LONG[:30], AHEAD):
            done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ahead)
        await world.engine.began.wait()
        async with AsyncExitStack() as asked:
            tasks.start_soon(_open_gate, world)
            prompt = await asked.enter_async_context(world.reading.read(LONG[:30], ask("x")))
            assert prompt.known_tokens == 4  # the piece that had begun
            assert not done.is_set()
        with anyio.fail_after(60):
            await done.wait()
        tasks.cancel_scope.cancel()
    assert {slot for slot, _ in world.engine.pieces} == {0}


async def _open_gate(world: World) -> None:
    await anyio.wait_all_tasks_blocked()
    world.engine.gate.set()


async def test_what_is_read_ahead_is_shown(world: World) -> None:
    """Whoever looks at the engine sees how far a prompt is that is read ahead, and when that is over."""
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


async def test_what_is_read_ahead_finds_a_place_where_all_hold_others(tmp_path: Path) -> None:
    """With more beginnings than slots the longest unused one goes."""
    world = World(tmp_path)
    for start in (0, 10_000, 20_000):
        read = await world.read(list(range(start, start + 100)), AHEAD)
    assert (await world.read([*range(20_000, 20_100), 1])).slot == read.slot


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


async def test_an_opening_is_read_at_full_speed_whoever_asks(world: World) -> None:
    """What was asked to be read ahead is read in large pieces by a request that comes first, its own part is not."""
    await world.read(OTHER[:40], AHEAD)
    world.engine.pieces.clear()
    await world.read(LONG)
    assert max(size for _, size in world.engine.pieces) == 10
    async with anyio.create_task_group() as others:
        entered = anyio.Event()

        async def hold() -> None:
            async with world.reading.read([1, 2], ask("x")):
                entered.set()
                await anyio.sleep_forever()

        others.start_soon(hold)
        await entered.wait()
        others.start_soon(world.read, [*range(300)], AHEAD)  # it waits, and is known
        await anyio.wait_all_tasks_blocked()
        world.engine.pieces.clear()
        await world.read([*range(300), *LONG])
        sizes = [size for _, size in world.engine.pieces]
        assert max(sizes) == 64
        assert set(sizes[-10:]) == {10}
        others.cancel_scope.cancel()


async def test_a_request_before_the_openings_are_read_reads_its_own_at_full_speed(world: World) -> None:
    """Openings that are asked for together are all known at once: a request that comes while the first is read has
    its own read in large pieces."""
    opening = [*range(300)]
    world.engine.gate = anyio.Event()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for tokens in (OTHER, opening):
                tasks.start_soon(world.read_ahead, tokens)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(_open_gate, world)
            prompt = await world.read([*opening, *LONG])
    of_request = [size for slot, size in world.engine.pieces if slot == prompt.slot]
    assert prompt.known_tokens == 0
    assert max(of_request) == 64
    assert (await world.read(OTHER)).known_tokens == len(OTHER)
