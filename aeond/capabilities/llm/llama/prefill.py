"""Reads prompts into the engine's slots, one batch at a time, and records what each slot holds.

llama.cpp fills a batch from its slots in order, so a prompt that it receives whole delays the prompts in later
slots until its end. A prompt is therefore sent batch by batch: each request repeats the prompt up to a later
token and generates nothing, and the engine computes only what the slot does not hold yet. Between two batches
other prompts have their turn, interactive ones before background ones, and a cancelled prompt stops. This works
only if no other prompt is put into the slot in between, so each request names its slot.
"""

from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from math import ceil

import anyio

from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.llama.prefix_cache import Poster, PrefixCache
from aeond.domain.llm import LLMRequest, Priority
from aeond.domain.values import JsonObject
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.ports import Clock

# Tokens of a batch. Below the least the processor is used badly; docs/performance.md has the measurements.
FIRST_BATCH = 64
LEAST_BATCH = 32
BATCH_STEP = 16  # tokens are computed so many at a time: 15 took 147 ms, 16 took 112 (llama.cpp built for an EPYC with AVX-512)
# Each batch takes the time of a token more than its tokens do, because all weights are read from memory once: few batches
# of equal size are better than one more for the last few tokens.
LONGEST = 1.25
MAX_OPENINGS = 56
LEAST_LONGER = 48  # tokens below an opening that are worth a file of their own: about a second
LONGER_STEP = 32  # of these: the time stands behind the facts, and each minute would have its own file
RECENT_PROMPTS = 6
# A slot is chosen for what it holds only from this share of the prompt on, and of what it holds: most prompts begin with
# the same few tokens.
LEAST_SHARE = 0.1


@dataclass(slots=True)
class Slot:
    """A place in the engine for one request at a time, and the tokens that it holds.

    `opening` is the prompt opening that was read ahead into it. `worth` rises with the tokens that would have to be read again if the
    slot were used for another prompt, and with the time of its last use.
    """

    number: int
    tokens: Sequence[int] = ()
    opening: Sequence[int] = ()
    worth: int = 0

    def known(self, tokens: Sequence[int]) -> int:
        """How many tokens of this prompt, from its beginning, the slot holds."""
        return shared(self.tokens, tokens)


@dataclass(slots=True)
class Kind:
    """The last prompts with the same opening, and the common beginning of the newest one and two others, if it is much longer.

    The facts and files in view follow the opening. They change less often than slots are reused.
    """

    recent: tuple[Sequence[int], ...] = ()
    longer: Sequence[int] = ()

    def note(self, opening: Sequence[int], tokens: Sequence[int]) -> None:
        in_common = sorted((shared(one, tokens) for one in self.recent), reverse=True)
        with_two = in_common[1] if len(in_common) > 1 else 0
        more = LONGER_STEP * max((with_two - len(opening)) // LONGER_STEP, 0)
        self.longer = tokens[: len(opening) + more] if more >= LEAST_LONGER else ()
        self.recent = (*self.recent[1 - RECENT_PROMPTS :], array("i", tokens))


@dataclass(slots=True)
class BatchSize:
    """The number of tokens that are read in about `seconds`, between LEAST_BATCH and `most`."""

    seconds: float
    most: int
    tokens: int = FIRST_BATCH

    def __post_init__(self) -> None:
        self.tokens = min(self.tokens, self.most)

    def part_of(self, left: int) -> int:
        """The size of the next batch of a prompt of which `left` tokens are not read: the prompt is divided into batches of about the
        same size, about a quarter larger than usual at most, all but the last one in whole steps. Where they would be smaller than
        LEAST_BATCH, only the last one is smaller.
        """
        longest = min(BATCH_STEP * round(LONGEST * self.tokens / BATCH_STEP), self.most)
        size = max(left / max(ceil(left / longest), 1), LEAST_BATCH)
        return min(BATCH_STEP * ceil(size / BATCH_STEP), left, self.most)

    def adapt(self, tokens: int, seconds: float) -> None:
        """Adjusts to the duration of the last batch; the size at most doubles."""
        fitting = BATCH_STEP * round(tokens * self.seconds / max(seconds, 1e-6) / BATCH_STEP)
        self.tokens = min(max(fitting, LEAST_BATCH), 2 * self.tokens, self.most)


@frozen
class ReadPrompt:
    """A prompt that is read except for its last batch: its slot, and how many tokens the slot held before."""

    slot: int
    known_tokens: int


class Prefill:
    """The slots of one life of an engine.

    A batch has as many tokens as are read in about `batch_seconds`, at most `most`. `show` receives the progress
    (0..1) of a prompt that is only read ahead.
    """

    def __init__(
        self,
        client: Poster,
        clock: Clock,
        files: PrefixCache,
        *,
        slots: int,
        most: int,
        batch_seconds: float,
        show: Callable[[float], None],
    ) -> None:
        self._client = client
        self._clock = clock
        self._files = files
        self._size = BatchSize(batch_seconds, most)
        self._openings = files.kept()[-MAX_OPENINGS:]  # the last used last
        self._kinds: dict[tuple[int, ...], Kind] = {}  # by opening, the last used last
        self._show = show
        self._free = [Slot(number) for number in range(slots)]  # the least recently used first
        self._age = 0  # the worth of the slot that was replaced last
        self._places = anyio.Semaphore(slots)
        self._turn = anyio.Lock()  # one batch at a time; waiting prompts take turns
        self._ahead_slot = anyio.Lock()  # held while a slot is used for reading ahead
        self._opening_turn = anyio.Lock()  # of interactive prompts whose opening has to be read
        self._interactive = 0
        self._no_interactive = anyio.Event()

    @asynccontextmanager
    async def read(
        self, tokens: Sequence[int], request: LLMRequest, fixed: Sequence[int] = ()
    ) -> AsyncIterator[ReadPrompt]:
        """Reads all but the last batch of the request's prompt and reserves the slot for the block.

        What the prompt shares with `fixed`, its messages that never change as a prompt, is kept as an opening, and so is what
        prompts with the same opening have in common below it. A background request gives way to every interactive one between
        two batches. Raises what the client raises.
        """
        background = request.priority is Priority.BACKGROUND
        ahead = request.reads_ahead
        if opening := tokens if ahead else tokens[: shared(tokens, fixed)]:
            self._openings = [*(one for one in self._openings if one != opening), opening][-MAX_OPENINGS:]
        if not ahead:
            self._note_kind(tokens)
        self._interactive += not background
        try:
            async with self._read_into_slot(tokens, background=background, ahead=ahead) as prompt:
                yield prompt
        finally:
            self._interactive -= not background
            if not self._interactive:
                self._no_interactive.set()
            if ahead:
                self._show(1.0)

    @asynccontextmanager
    async def _read_into_slot(
        self, tokens: Sequence[int], *, background: bool, ahead: bool
    ) -> AsyncIterator[ReadPrompt]:
        while True:
            before: int | None = None
            if background:
                await self._wait_for_interactive()
            else:
                # The opening that is being read ahead is probably this prompt's own: its slot is released after
                # the current batch.
                async with self._ahead_slot:
                    pass
                before = await self._read_opening(tokens)
            async with (
                self._taken(tokens, ahead=ahead) as slot,
                self._ahead_slot if ahead else nullcontext(),
            ):
                await self._restore(slot, tokens)
                known = slot.known(tokens)
                if await self._read(slot, tokens, background=background, ahead=ahead):
                    yield ReadPrompt(slot.number, known if before is None else before)
                    slot.tokens = tokens
                    if ahead:
                        slot.opening = tokens
                        await self._files.save(self._client, slot.number, tokens)
                    return

    def _note_kind(self, tokens: Sequence[int]) -> None:
        """Notes a prompt among those that begin with the same opening."""
        opening = max((one for one in self._openings if _begins(tokens, one)), key=len, default=())
        if opening:
            kind = self._kinds[tuple(opening)] = self._kinds.pop(tuple(opening), Kind())
            kind.note(opening, tokens)
        while len(self._kinds) > MAX_OPENINGS:
            del self._kinds[next(iter(self._kinds))]

    def _known_openings(self) -> Iterator[Sequence[int]]:
        yield from (kind.longer for kind in self._kinds.values() if kind.longer)
        yield from self._openings

    async def _read_opening(self, tokens: Sequence[int]) -> int | None:
        """Reads and saves the opening of an interactive prompt that is nowhere yet. Returns how much of the prompt was
        known before; None if nothing was read.

        Prompts that arrive together often begin alike. One of them reads the opening; the others wait for its file, which
        takes less time than to read it in each of their slots.
        """
        if not self._missing_opening(tokens):
            return None
        async with self._opening_turn:
            opening = self._missing_opening(tokens)
            if not opening:
                return None
            async with self._taken(opening, ahead=True) as slot:
                await self._restore(slot, opening)
                known = slot.known(tokens)
                await self._read(slot, opening, background=False, ahead=False)
                async with self._turn:
                    await self._client.post("/completion", batch_body(slot.number, opening))
                slot.tokens = slot.opening = opening
                await self._files.save(self._client, slot.number, opening)
                return known

    def _missing_opening(self, tokens: Sequence[int]) -> Sequence[int]:
        """The opening of this prompt, if much of it is neither saved nor in a free slot."""
        opening = max((one for one in self._known_openings() if _begins(tokens, one)), key=len, default=())
        at_hand = max((slot.known(tokens) for slot in self._free), default=0)
        saved = shared(self._saved_opening(tokens), tokens)
        return opening if len(opening) - max(at_hand, saved) >= LEAST_LONGER else ()

    async def _wait_for_interactive(self) -> None:
        while self._interactive:
            self._no_interactive = anyio.Event()
            await self._no_interactive.wait()

    def _saved_opening(self, tokens: Sequence[int]) -> Sequence[int]:
        """The saved opening that shares the longest beginning with this prompt."""
        nearest = sorted(self._known_openings(), key=lambda opening: -shared(opening, tokens))
        return next(filter(self._files.holds, nearest), ())

    async def _restore(self, slot: Slot, tokens: Sequence[int]) -> None:
        """Loads the saved opening into a slot that holds less of the prompt."""
        opening = self._saved_opening(tokens)
        if shared(opening, tokens) > slot.known(tokens) and await self._files.restore(
            self._client, slot.number, opening
        ):
            slot.tokens = opening

    @asynccontextmanager
    async def _taken(self, tokens: Sequence[int], *, ahead: bool) -> AsyncIterator[Slot]:
        """A free slot, reserved for the block; waits for one."""
        async with self._places:
            slot = self._best_slot(tokens, ahead=ahead)
            self._free.remove(slot)
            try:
                yield slot
            except AeondError:
                slot.tokens = ()  # after a failure the engine may have dropped what it had read
                raise
            finally:
                saved = shared(self._saved_opening(slot.tokens), slot.tokens)
                slot.worth = self._age + len(slot.tokens) - saved
                self._free.append(slot)

    def _best_slot(self, tokens: Sequence[int], *, ahead: bool) -> Slot:
        """The slot that holds most of the prompt, or the one of least worth, of equals the least recently used one.

        The latter where no slot holds much of the prompt, and where a saved opening gives as much: it is loaded
        in milliseconds, and another conversation keeps its slot. A question of a few tokens below a saved opening so takes the slot
        of another such question, and not that of a long conversation, however many are asked between its turns; a slot
        that is replaced raises the worth of those used later (the replacement known as GreedyDual), so that none is kept for ever. An opening does
        not replace another one while there is another slot.
        """
        free = self._free
        if ahead:
            free = [slot for slot in free if slot.opening in ((), tokens)] or free
        best = max(free, key=lambda slot: slot.known(tokens))
        known, saved = best.known(tokens), shared(self._saved_opening(tokens), tokens)
        overwrites = len(best.tokens) > known
        longest = max(len(tokens), len(best.tokens))
        if known < LEAST_SHARE * longest or known < saved or (known == saved and overwrites):
            cheapest = min(free, key=lambda slot: slot.worth)
            self._age = cheapest.worth
            return cheapest
        return best

    async def _read(self, slot: Slot, tokens: Sequence[int], *, background: bool, ahead: bool) -> bool:
        """Reads all but the last batch; False when a background prompt has to give way."""
        read = slot.known(tokens)
        while (size := self._size.part_of(len(tokens) - read)) < len(tokens) - read:
            if background and self._interactive:
                return False
            if ahead:
                self._show(read / len(tokens))
            async with self._turn:
                began = self._clock.monotonic()
                await self._client.post("/completion", batch_body(slot.number, tokens[: read + size]))
                self._size.adapt(size, self._clock.monotonic() - began)
            read += size
            slot.tokens = tokens[:read]
        return True


@frozen
class Resident:
    """One life of the engine, from ready to its end: its client, its slots, and the tokens of the last prompts by their text. `guided` is
    whether it was built with LLGuidance."""

    client: OpenAIClient
    prompts: Prefill
    guided: bool = True
    counted: dict[str, Sequence[int]] = field(default_factory=dict)


def shared(some: Sequence[int], others: Sequence[int]) -> int:
    """The length of the common beginning."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(some), len(others)))


def _begins(tokens: Sequence[int], opening: Sequence[int]) -> bool:
    return shared(opening, tokens) == len(opening)


def batch_body(slot: int, tokens: Sequence[int]) -> JsonObject:
    """The request that reads these tokens into the slot, as far as it does not hold them, and generates nothing."""
    return {"prompt": list(tokens), "n_predict": 0, "cache_prompt": True, "id_slot": slot}
