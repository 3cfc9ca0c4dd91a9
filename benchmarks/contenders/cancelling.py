"""From a cancel until the engine works for nobody, while a prompt of its own is read: prints JSON.

usage: python -m benchmarks.contenders.cancelling FOLDER MODEL COUNT
"""

import json
import random
import sys
from pathlib import Path
from time import perf_counter

import anyio

from aeond.capabilities.llm.catalogue import BUILT_IN, Catalogue
from aeond.capabilities.llm.downloading import ModelStore
from aeond.capabilities.llm.llama_cpp import LlamaCppAdapter
from aeond.capabilities.llm.llama_engine import LlamaEngine, LlamaSettings
from aeond.capabilities.llm.retrying import Retries
from aeond.daemon.clocks import SystemClock
from aeond.daemon.paths import user_models_dir
from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from aeond.ports import LLMAdapter

WORDS = (
    "river", "stone", "lantern", "cloud", "window", "paper", "garden", "silver", "engine", "mountain", "candle",
    "forest", "bottle", "letter",
)  # fmt: skip
PROMPT_WORDS = 600
BUSY_SECONDS = 0.1
READING_SECONDS = 2.0  # into the prompt, before it is cancelled
PATIENCE_SECONDS = 900.0


def asked(dice: random.Random) -> LLMRequest:
    """A prompt that nobody has read before."""
    text = " ".join(dice.choice(WORDS) for _ in range(PROMPT_WORDS))
    return LLMRequest((Message(Role.USER, text),), max_tokens=8)


async def freed_after(llm: LLMAdapter, engine: LlamaEngine, request: LLMRequest, wait: float) -> float:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(llm.generate, request)
        await anyio.sleep(wait)
        began = perf_counter()
        tasks.cancel_scope.cancel()
    async with engine.session() as resident:
        while any(slot["is_processing"] for slot in json.loads(await resident.client.get("/slots"))):
            await anyio.lowlevel.checkpoint()
    return perf_counter() - began


async def main(folder: Path, model: str, count: int) -> None:
    clock, dice = SystemClock(), random.Random(5)
    settings = LlamaSettings(busy_seconds=BUSY_SECONDS)
    engine = LlamaEngine(
        Catalogue(BUILT_IN, model),
        ModelStore(user_models_dir()),
        folder / "engine",
        folder / "prompts",
        clock,
        settings,
    )
    with anyio.fail_after(PATIENCE_SECONDS):
        async with engine:
            llm = LlamaCppAdapter(engine, Retries(clock, dice.random))
            await llm.generate(LLMRequest((Message(Role.USER, "Say hi."),), max_tokens=4))
            seconds = [
                await freed_after(llm, engine, asked(dice), READING_SECONDS + dice.random())
                for _ in range(count)
            ]
    print(json.dumps(seconds))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
