"""Has the engine read prompts, in pieces, and knows what each of its slots has read.

llama.cpp looks at its clients only between two batches, and a batch that has begun cannot be cut short. So
a prompt is given to it in pieces that last about as long as a cancelled request may keep it busy, however
fast the machine is: the longer a piece, the better the cores are used, the later a cancel. A piece is the
prompt up to some token; the engine finds what it has read already and reads the rest. That works only if
nobody else's prompt goes to the same slot in between, so the slots are given out here.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

import anyio

from aeond.capabilities.llm.openai_client import OpenAIClient
from aeond.capabilities.llm.prompt_files import Poster, PromptFiles
from aeond.domain.llm import LLMRequest, Priority
from aeond.domain.values import JsonObject
from aeond.errors import AeondError
from aeond.frozen import frozen
from aeond.ports import Clock

FIRST_PIECE = 4  # tokens: nothing is known of the machine yet
LEAST_PIECE = 1
# After so many single tokens that were read in time two are tried again: they take less than twice as long.
# Each try that took too long doubles it, as far as that.
PATIENT_PIECES = 64
MOST_PATIENT_PIECES = 512
# How long a piece lasts of what prompts usually begin with: it is read once and kept, also when the request
# that brought it is cancelled, and longer pieces are read at more than twice the speed.
AHEAD_SECONDS = 1.0
MAX_OPENINGS = 8
# Less of a prompt than this is no reason to go where it was read: most begin with the same few tokens.
LEAST_SHARE = 0.1


@dataclass(slots=True)
class Slot:
    """A place in the engine where one request at a time is worked on, and the tokens that it has read;
    `opening` is what was read ahead into it."""

    number: int
    tokens: Sequence[int] = ()
    opening: Sequence[int] = ()

    def known(self, tokens: Sequence[int]) -> int:
        """How many tokens of this prompt, from its beginning, the slot has read."""
        return shared(self.tokens, tokens)


@dataclass(slots=True)
class Pace:
    """How many tokens a piece has so that it lasts about so many seconds; `most` bounds it."""

    seconds: float
    most: int
    size: int
    singles: int = 0
    patience: int = PATIENT_PIECES

    def adapt(self, size: int, seconds: float) -> None:
        """The next piece should last as long as it may, going by the last one, but grow with care."""
        fitting = int(size * self.seconds / max(seconds, 1e-6) + 0.2)  # rounded down, but for a little
        self.singles = self.singles + 1 if size == fitting == LEAST_PIECE else 0
        if size > LEAST_PIECE:
            failed = fitting <= LEAST_PIECE
            self.patience = min(2 * self.patience, MOST_PATIENT_PIECES) if failed else PATIENT_PIECES
        if self.singles == self.patience:
            self.singles, fitting = 0, LEAST_PIECE + 1
        self.size = max(LEAST_PIECE, min(fitting, 2 * size, self.most))


@frozen
class ReadPrompt:
    """A prompt whose last piece alone is left to read: in which slot, and how many tokens were there before."""

    slot: int
    known_tokens: int


class PromptReading:
    """The slots of one life of an engine.

    `most` is the largest piece, in tokens, and `piece_seconds` how long one should last. `show` is told how
    far a prompt is that is only read ahead (0..1).
    """

    def __init__(
        self,
        client: Poster,
        clock: Clock,
        files: PromptFiles,
        *,
        slots: int,
        most: int,
        piece_seconds: float,
        show: Callable[[float], None],
    ) -> None:
        self._client = client
        self._clock = clock
        self._files = files
        first = min(FIRST_PIECE, most)
        self._pace = Pace(piece_seconds, most, first)
        self._ahead_pace = Pace(max(piece_seconds, AHEAD_SECONDS), most, first)
        self._openings: list[Sequence[int]] = []  # what was asked to be read ahead
        self._show = show
        self._free = [Slot(number) for number in range(slots)]  # the longest unused first
        self._places = anyio.Semaphore(slots)
        self._turn = anyio.Lock()  # pieces of two prompts at once would last twice as long
        self._ahead_order = anyio.Lock()  # openings are read ahead in the order in which they were asked for
        self._ahead_turn = anyio.Lock()  # held by what reads ahead for as long as it holds a slot
        self._writing = 0  # requests whose prompt is read
        self._interactive = 0
        self._calm = anyio.Event()

    @asynccontextmanager
    async def read(self, tokens: Sequence[int], request: LLMRequest) -> AsyncIterator[ReadPrompt]:
        """Reads all but the last piece of the request's prompt; the slot is the caller's during the block.

        A background request gives way to every other one between two pieces. What the client raises.
        """
        background = request.priority is Priority.BACKGROUND
        ahead = is_ahead(request)
        if ahead and tokens not in self._openings:
            self._openings = [*self._openings, tokens][-MAX_OPENINGS:]
        self._interactive += not background
        try:
            async with (
                self._ahead_order if ahead else nullcontext(),
                self._read_into_a_slot(tokens, background=background, ahead=ahead) as prompt,
            ):
                yield prompt
        finally:
            self._interactive -= not background
            if not self._interactive:
                self._calm.set()
            if ahead:
                self._show(1.0)

    @asynccontextmanager
    async def _read_into_a_slot(
        self, tokens: Sequence[int], *, background: bool, ahead: bool
    ) -> AsyncIterator[ReadPrompt]:
        while True:
            if background:
                await self._wait_calm()
            else:
                # Whoever reads ahead leaves its slot after the piece at hand, or once all is kept: what it
                # read so far is likely what this prompt begins with.
                async with self._ahead_turn:
                    pass
            async with (
                self._taken(tokens, ahead=ahead) as slot,
                self._ahead_turn if ahead else nullcontext(),
            ):
                await self._restore(slot, tokens)
                known = slot.known(tokens)
                if await self._read(slot, tokens, background=background, ahead=ahead):
                    self._writing += 1
                    try:
                        yield ReadPrompt(slot.number, known)
                    finally:
                        self._writing -= 1
                    slot.tokens = tokens
                    if ahead:
                        slot.opening = tokens
                        await self._files.save(self._client, slot.number, tokens)
                    return

    def _kept_opening(self, tokens: Sequence[int]) -> Sequence[int]:
        """Of the openings that are on file the one with which this prompt begins for longest."""
        kept = filter(self._files.holds, self._openings)
        return max(kept, key=lambda opening: shared(opening, tokens), default=())

    async def _restore(self, slot: Slot, tokens: Sequence[int]) -> None:
        """Gives a slot that has read less of a prompt than is on file what is on file."""
        opening = self._kept_opening(tokens)
        if shared(opening, tokens) > slot.known(tokens) and await self._files.restore(
            self._client, slot.number, opening
        ):
            slot.tokens = opening

    async def _wait_calm(self) -> None:
        while self._interactive:
            self._calm = anyio.Event()
            await self._calm.wait()

    @asynccontextmanager
    async def _taken(self, tokens: Sequence[int], *, ahead: bool) -> AsyncIterator[Slot]:
        """A slot of one's own: the one that has read most of this prompt, or, where that is little or less than
        is on file, the longest unused.

        What is read ahead does not take the place of something else that was, as long as there is another.
        """
        async with self._places:
            free = self._free
            if ahead:
                free = [slot for slot in free if slot.opening in ((), tokens)] or free
            best = max(free, key=lambda slot: slot.known(tokens))
            least = max(LEAST_SHARE * len(tokens), shared(self._kept_opening(tokens), tokens))
            slot = best if best.known(tokens) >= least else free[0]
            self._free.remove(slot)
            try:
                yield slot
            except AeondError:
                slot.tokens = ()  # whatever went wrong, the engine may have dropped what it had read
                raise
            finally:
                self._free.append(slot)

    async def _read(self, slot: Slot, tokens: Sequence[int], *, background: bool, ahead: bool) -> bool:
        """False when somebody who must not wait has come."""
        read = slot.known(tokens)
        while len(tokens) - read > (pace := self._pace_at(tokens, read)).size:
            if background and self._interactive:
                return False
            if ahead:
                self._show(read / len(tokens))
            async with self._turn:
                size = min(pace.size, len(tokens) - read)
                began, alone = self._clock.monotonic(), not self._writing
                await self._client.post("/completion", piece_body(slot.number, tokens[: read + size]))
                seconds = self._clock.monotonic() - began
                # Beside others that write a piece lasts as long as their words: that it is slow says nothing of reading.
                if (alone and not self._writing) or seconds <= pace.seconds:
                    pace.adapt(size, seconds)
            read += size
            slot.tokens = tokens[:read]
        return True

    def _pace_at(self, tokens: Sequence[int], read: int) -> Pace:
        """How the next tokens are read: those of an opening at full speed."""
        opens = any(len(known) > read and known[: read + 1] == tokens[: read + 1] for known in self._openings)
        return self._ahead_pace if opens else self._pace


@frozen
class Resident:
    """One life of the engine, from ready to its end: the way to talk to it, and its slots."""

    client: OpenAIClient
    prompts: PromptReading


def shared(some: Sequence[int], others: Sequence[int]) -> int:
    """With how many of the same tokens both begin."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(some), len(others)))


def is_ahead(request: LLMRequest) -> bool:
    """Whether a request is made for nothing but to have its prompt read."""
    return request.priority is Priority.BACKGROUND and request.max_tokens == 1


def piece_body(slot: int, tokens: Sequence[int]) -> JsonObject:
    """Has the engine read these tokens, as far as it has not, and write nothing."""
    return {"prompt": list(tokens), "n_predict": 0, "cache_prompt": True, "id_slot": slot}
