"""A real small model behind the real embedded engine, for tests that need an engine and not a good answer.

`small_engine` starts once per test session. The model is fetched once into AEOND_TEST_MODELS, or the user's
cache when that is not set; `python -m tests.support.engine` only fetches it. With AEOND_TEST_NATIVE, the folder of a build of
`aeond engine-setup --native`, engines are of that build.
"""

import contextlib
import json
import os
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from aeond.capabilities.llm.adapters.llama_cpp import LlamaCppAdapter
from aeond.capabilities.llm.adapters.retry import Retries
from aeond.capabilities.llm.llama.engine import LlamaEngine, LlamaSettings
from aeond.capabilities.llm.models.catalogue import BUILT_IN, SMOLLM2_135M, Catalogue
from aeond.capabilities.llm.models.store import ModelStore
from aeond.daemon.clocks import SystemClock
from aeond.domain.llm import LLMRequest
from aeond.domain.messages import Message, Role

MODELS = Path(os.environ.get("AEOND_TEST_MODELS", "~/.cache/aeond-tests/models")).expanduser()
NATIVE = os.environ.get("AEOND_TEST_NATIVE")
CONTEXT_LENGTH = 2048
SLOTS = 4


@dataclass(frozen=True)
class SmallEngine:
    """An engine with its adapter; `folder` holds its socket and pid file."""

    llm: LlamaCppAdapter
    engine: LlamaEngine
    folder: Path

    @property
    def socket(self) -> Path:
        """Where its server listens."""
        return self.folder / "engine.sock"

    async def is_idle(self) -> bool:
        """Whether no slot of the engine works on a request."""
        async with self.engine.session() as resident:
            slots = json.loads(await resident.client.get("/slots"))
        return not any(slot["is_processing"] for slot in slots)

    async def counters(self) -> dict[str, float]:
        """The engine's own counters, such as `llamacpp:tokens_predicted_total`."""
        async with self.engine.session() as resident:
            text = (await resident.client.get("/metrics")).decode()
        lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
        return {line[0]: float(line[1]) for line in lines}


@contextlib.asynccontextmanager
async def running_engine(
    folder: Path, model: str = SMOLLM2_135M.name, **options: Any
) -> AsyncIterator[SmallEngine]:
    """An engine of one's own; `options` are those of LlamaSettings, `program` and `start`, and of the models `tool_parser` and
    `chat_template`."""
    clock = SystemClock()
    program = {name: options.pop(name) for name in ("program", "start") if name in options}
    changed = {name: options.pop(name) for name in ("tool_parser", "chat_template") if name in options}
    settings = LlamaSettings(
        **{
            "slots": SLOTS,
            "context_length": CONTEXT_LENGTH,
            "stall_seconds": 120.0,
            "library": Path(NATIVE).absolute() if NATIVE else None,
            **options,
        }
    )
    catalogue = Catalogue([replace(entry, **changed) for entry in BUILT_IN], model)
    async with LlamaEngine(
        catalogue, ModelStore(MODELS), folder, folder / "prompts", clock, settings, **program
    ) as engine:
        yield SmallEngine(LlamaCppAdapter(engine, Retries(clock, random.random)), engine, folder)


@pytest.fixture(scope="session")
async def small_engine(
    anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SmallEngine]:
    """The session's engine, ready to answer."""
    async with running_engine(tmp_path_factory.mktemp("engine")) as running:
        await running.llm.generate(ask("Hello.", max_tokens=1, deadline_seconds=600))
        yield running


def ask(text: str, *, system: str = "", **options: Any) -> LLMRequest:
    """A request with one question."""
    asked = Message(Role.USER, text)
    messages = (Message(Role.SYSTEM, system), asked) if system else (asked,)
    return LLMRequest(messages, **options)


async def _fetch_model() -> None:
    """Downloads the model of these tests, unless it is there."""
    await ModelStore(MODELS).fetch(SMOLLM2_135M, lambda _activity, _done: None)


if __name__ == "__main__":
    anyio.run(_fetch_model)
