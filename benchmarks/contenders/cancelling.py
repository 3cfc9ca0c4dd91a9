"""The time from a cancel until the engine is idle: prints JSON.

usage: python -m benchmarks.contenders.cancelling FOLDER ENGINE MODEL SECONDS COUNT

The request is cancelled SECONDS, and up to half as much more, into the reading of a long prompt; with 0 in
the middle of an answer.
"""

import json
import random
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import anyio

from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.ports import LLMAdapter
from benchmarks.contenders.opening import OpenedEngine, opened

WORDS = (
    "river", "stone", "lantern", "cloud", "window", "paper", "garden", "silver", "engine", "mountain", "candle",
    "forest", "bottle", "letter",
)  # fmt: skip
LONG, SHORT = 600, 20  # words of a prompt
WRITTEN_TOKENS = 12  # of an answer, before it is cancelled
WRITTEN_SECONDS = 120.0  # in which they are written
PATIENCE_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Freed:
    """Seconds from a cancel until the engine was idle, and the mean time of a word before it."""

    seconds: float
    word_seconds: float


class Writing:
    """The chunks of an answer that is to be cancelled, each as its time and the tokens in it."""

    def __init__(self) -> None:
        self.chunks: list[tuple[float, int]] = []
        self.goes_on = anyio.Event()  # set by the first WRITTEN_TOKENS

    async def read(self, llm: LLMAdapter, request: LLMRequest) -> None:
        """Reads until it is cancelled; RuntimeError if the answer ends before."""
        tokens = 0
        async for chunk in llm.stream(request):
            tokens += chunk.pieces
            self.chunks.append((perf_counter(), chunk.pieces))
            if tokens >= WRITTEN_TOKENS:
                self.goes_on.set()
        message = f"the answer ended after about {tokens} tokens, before it was cancelled"
        raise RuntimeError(message)

    @property
    def word_seconds(self) -> float:
        """The mean time of a token after the first chunk."""
        later = sum(tokens for _, tokens in self.chunks[1:])
        return (self.chunks[-1][0] - self.chunks[0][0]) / later if later else 0.0


def asked(dice: random.Random, words: int) -> LLMRequest:
    """A prompt that is not cached, and an answer without an end."""
    text = " ".join(dice.choice(WORDS) for _ in range(words))
    return LLMRequest((Message(Role.USER, f"Tell a long story with these words: {text}"),), max_tokens=512)


async def freed_after(
    engine: OpenedEngine, request: LLMRequest, reading_seconds: float, *, is_reported: bool
) -> Freed:
    """`is_reported`: the engine's metrics page shows when it is idle."""
    writing = Writing()
    usual = await answered_after(engine)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writing.read, engine.llm, request)
        if reading_seconds:
            await anyio.sleep(reading_seconds)
            if writing.chunks:
                message = f"the prompt was read within {reading_seconds} seconds: cancel sooner"
                raise RuntimeError(message)
        else:
            with anyio.fail_after(WRITTEN_SECONDS):
                await writing.goes_on.wait()
        began = perf_counter()
        tasks.cancel_scope.cancel()
    # vLLM counts a request once its first chunk is read; the next request is delayed all the same.
    seconds = await idle_since(engine) - began if is_reported else await answered_after(engine) - usual
    return Freed(seconds, writing.word_seconds)


async def idle_since(engine: OpenedEngine) -> float:
    """The time at which it was first seen idle and stayed so: a pending request would start right after."""
    since = 0.0
    while not since or await engine.at_work():
        while await engine.at_work():
            await anyio.lowlevel.checkpoint()
        since = perf_counter()
    return since


async def answered_after(engine: OpenedEngine) -> float:
    """Latency of a word for a new request."""
    began = perf_counter()
    await engine.llm.generate(LLMRequest((Message(Role.USER, "Say hi."),), max_tokens=1))
    return perf_counter() - began


async def main(folder: Path, engine: str, model: str, seconds: float, count: int) -> None:
    dice = random.Random(5)
    # llama.cpp answers metrics requests between two batches, so the reply itself shows that one is complete.
    is_reported = engine == "llama_cpp" or not seconds
    with anyio.fail_after(PATIENCE_SECONDS):
        async with opened(folder, engine, model=model, context_tokens=2048) as ready:
            await answered_after(ready)
            seen = [
                await freed_after(
                    ready,
                    asked(dice, LONG if seconds else SHORT),
                    seconds * (1 + dice.random() / 2),
                    is_reported=is_reported,
                )
                for _ in range(count)
            ]
    print(json.dumps([asdict(one) for one in seen]))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5]))
