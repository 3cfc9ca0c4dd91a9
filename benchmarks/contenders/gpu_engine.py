"""vLLM on a GPU through its adapter, and asked directly over its socket with the same prompts: prints JSON.

usage: python -m benchmarks.contenders.gpu_engine FOLDER MODEL ROUNDS TOKENS [ARGUMENT OF vllm serve ...]

MODEL is the small model's name, or a folder of safetensors; with `--load-format dummy` as arguments a folder with the
configuration and the tokenizer of a model is enough, for speed does not depend on what the weights say. Run by hand
where there is a GPU; every figure is printed to standard error as soon as it is known.
"""

import contextlib
import itertools
import json
import random
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
import httpx

from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.adapters.vllm import VllmAdapter
from aeond.capabilities.llm.models.catalogue import SMOLLM2_135M, Catalogue, own_file
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.vllm.engine import VllmEngine, VllmSettings
from aeond.capabilities.llm.vllm.models import ConvertedModels
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role
from benchmarks.contenders.cancelling import SHORT, WRITTEN_SECONDS, Writing, asked
from benchmarks.contenders.engine_path import Ask, directly, ours
from tests.support.engine import MODELS
from tests.support.vllm import CACHE, PYTHON, START_SECONDS, RealVllm

AT_ONCE = (1, 8, 32)
PROMPTS = (700, 1700)  # tokens
FIRSTS = 10
CANCELS = 10
CONTEXT_LENGTH = 4096
WORDS = ("river", "stone", "cloud", "window", "paper", "garden", "silver", "engine", "mountain", "forest")
TASK = (
    "Explain in at least three hundred words what a crew of {crew} on ship {ship} does from morning to night."
)
PATIENCE_SECONDS = 600.0


def used_mib() -> int:
    """How much of all GPUs' memory is used, in MiB."""
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return sum(map(int, subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()))


@contextlib.asynccontextmanager
async def engine_in(folder: Path, model: str, arguments: tuple[str, ...]) -> AsyncIterator[RealVllm]:
    """An engine with the settings of the product, but for the context and the requests at once."""
    entry = SMOLLM2_135M if model == SMOLLM2_135M.name else own_file("own", Path(model))
    settings = VllmSettings(
        gpu=True,
        slots=max(AT_ONCE),
        context_length=CONTEXT_LENGTH,
        load_seconds=START_SECONDS,
        stall_seconds=120.0,
        arguments=arguments,
    )
    clock = SystemClock()
    store = ConvertedModels(ModelStore(MODELS), CACHE / "models", PYTHON)
    catalogue = Catalogue([entry], "")
    async with VllmEngine(catalogue, store, folder, clock, settings, python=PYTHON, cache=CACHE) as engine:
        yield RealVllm(VllmAdapter(engine, Retries(clock, random.random)), engine, folder)


async def seconds_of(what: Callable[[], Awaitable[object]]) -> float:
    began = perf_counter()
    await what()
    return perf_counter() - began


async def rate(ask: Ask, ship: int, at_once: int, tokens: int) -> float:
    """Tokens per second of that many concurrent requests. Both ways ask the same, so that answers which end of
    themselves are as long."""
    counts: list[int] = []

    async def one(crew: int) -> None:
        answer = await ask(TASK.format(crew=crew, ship=ship), tokens)
        counts.append(answer.tokens)

    began = perf_counter()
    async with anyio.create_task_group() as tasks:
        for crew in range(1, at_once + 1):
            tasks.start_soon(one, crew)
    return sum(counts) / (perf_counter() - began)


async def prompt_of(running: RealVllm, dice: random.Random, tokens: int) -> str:
    """A prompt of about that many tokens that the engine has never read."""
    words = [dice.choice(WORDS) for _ in range(tokens)]
    counted = await running.llm.count_tokens((Message(Role.USER, " ".join(words)),))
    return " ".join(words[: max(1, tokens - (counted - tokens))])


async def first_words(
    running: RealVllm, ways: Mapping[str, Ask], dice: random.Random, tokens: int
) -> dict[str, float]:
    """Median time to the first word of an answer to an unknown prompt, by way; the ways alternate."""
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(FIRSTS):
        for name, ask in list(ways.items())[:: 1 if number % 2 else -1]:
            prompt = await prompt_of(running, dice, tokens)
            seen[name].append((await ask(prompt, 4)).first_seconds)
    return {name: statistics.median(seconds) for name, seconds in seen.items()}


async def cancelled(running: RealVllm, dice: random.Random, *, reading: bool) -> list[float]:
    """Seconds from each cancel until the engine has no request: while it reads a long prompt, or while it writes."""
    freed = []
    for _ in range(CANCELS):
        request = asked(dice, SHORT)
        if reading:
            prompt = await prompt_of(running, dice, CONTEXT_LENGTH - 700)
            request = replace(request, messages=(Message(Role.USER, prompt),))
        writing = Writing()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writing.read, running.llm, request)
            if reading:
                with anyio.move_on_after(1):
                    while await running.is_idle():
                        await anyio.lowlevel.checkpoint()
            else:
                with anyio.fail_after(WRITTEN_SECONDS):
                    await writing.goes_on.wait()
            began = perf_counter()
            tasks.cancel_scope.cancel()
        while not await running.is_idle():
            await anyio.lowlevel.checkpoint()
        freed.append(perf_counter() - began)
    return freed


async def speeds(running: RealVllm, rounds: int, tokens: int, show: Callable[[str, object], None]) -> None:
    """Rates and first words, ours and direct."""
    each = httpx.Limits(max_keepalive_connections=0)
    transport = httpx.AsyncHTTPTransport(uds=str(running.folder / "engine.sock"), limits=each)
    async with httpx.AsyncClient(transport=transport, base_url="http://engine", timeout=None) as client:
        ways = {"ours": ours(running.llm), "direct": directly(client, running.llm.model)}
        for at_once in AT_ONCE:
            for ask in ways.values():
                await rate(ask, 0, at_once, 8)
        for at_once in AT_ONCE:
            found: dict[str, list[float]] = {name: [] for name in ways}
            for number in range(1, rounds + 1):
                for name, ask in list(ways.items())[:: 1 if number % 2 else -1]:
                    found[name].append(await rate(ask, number, at_once, tokens))
            ratio = statistics.median(a / b for a, b in zip(found["ours"], found["direct"], strict=True))
            medians = {name: statistics.median(rates) for name, rates in found.items()}
            show(f"tokens a second, {at_once} at once", {**medians, "ratio": ratio})
        dice = random.Random(5)
        for length in PROMPTS:
            show(f"first word after {length} tokens", await first_words(running, ways, dice, length))


async def main(folder: Path, model: str, rounds: int, tokens: int, *arguments: str) -> None:
    figures: dict[str, object] = {}

    def show(name: str, figure: object) -> None:
        figures[name] = figure
        print(f"{name}: {json.dumps(figure)}", file=sys.stderr, flush=True)

    with anyio.fail_after(PATIENCE_SECONDS):
        show("MiB before", used_mib())
        async with engine_in(folder, model, arguments) as running:
            engine = running.engine
            show("seconds to ready", await seconds_of(engine.ready))
            hello = LLMRequest((Message(Role.USER, "Hello."),), max_tokens=1)
            show("seconds of the first answer", await seconds_of(lambda: running.llm.generate(hello)))
            await speeds(running, rounds, tokens, show)
            dice = random.Random(7)
            for name, reading in (("reads", True), ("writes", False)):
                freed = await cancelled(running, dice, reading=reading)
                show(
                    f"cancelled while it {name}", {"median": statistics.median(freed), "longest": max(freed)}
                )
            for number in itertools.count(1):
                show(f"MiB awake {number}", used_mib())
                show(f"seconds to sleep {number}", await seconds_of(engine.sleep))
                show(f"MiB asleep {number}", used_mib())
                await seconds_of(engine.wake)
                show(f"seconds to wake {number}", await seconds_of(engine.ready))
                show(f"seconds of an answer {number}", await seconds_of(lambda: running.llm.generate(hello)))
                if number == rounds:
                    break
            await engine.unload()
            show("MiB after", used_mib())
    print(json.dumps(figures))


def start(folder: str, model: str, rounds: str, tokens: str, *arguments: str) -> None:
    values: tuple[Any, ...] = (Path(folder), model, int(rounds), int(tokens), *arguments)
    anyio.run(main, *values)


if __name__ == "__main__":
    start(*sys.argv[1:])
