"""LoRA adapters as models of their own, over an engine whose server answers what a test says."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aeond.capabilities.llm.adapters.dialects import VllmDialect
from aeond.capabilities.llm.adapters.measurements import Measurements
from aeond.capabilities.llm.adapters.scripted import Script, ScriptedLLM
from aeond.capabilities.llm.engine.watchdog import Watchdog
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.capabilities.llm.http.client import OpenAIClient
from aeond.capabilities.llm.http.endpoints import UnixSocket
from aeond.capabilities.llm.vllm.engine import VllmResident
from aeond.capabilities.llm.vllm.lora import AdaptedEngine, LoraAdapter, room_for
from aeond.errors import InvalidInputError, LLMError
from tests.support.canned_server import CannedServer, answer, canned_server
from tests.support.doubles import ManualClock


def adapter(folder: Path, name: str = "terse", config: str = '{"r": 8}') -> LoraAdapter:
    """An adapter of the model `whole` with its files."""
    path = folder / name
    path.mkdir()
    (path / "adapter_config.json").write_text(config)
    (path / "adapter_model.safetensors").write_bytes(b"weights")
    return LoraAdapter(name, "whole", path)


class BareEngine(ScriptedEngine):
    """An engine of the models `whole` and `other` that gives sessions with a server; `die` begins a new life."""

    def __init__(self, socket: Path) -> None:
        self.clock = ManualClock()
        super().__init__(ScriptedLLM(Script(model="whole", models=("other",))), self.clock)
        self.measurements = Measurements(self.clock)
        self.context_length = 1_024
        self.tool_calls = False
        self.marked_dead: list[VllmResident] = []
        self._socket = socket
        self.die()

    def die(self) -> None:
        client = OpenAIClient(UnixSocket(self._socket), Watchdog(self.clock))
        self.resident = VllmResident(client, VllmDialect("whole", schemas=True))

    @property
    def model(self) -> str:
        return self.snapshot().model or "whole"

    def mark_dead(self, resident: VllmResident) -> None:
        self.marked_dead.append(resident)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[VllmResident]:
        await self.ready()
        yield self.resident


async def asked_as(engine: AdaptedEngine) -> str:
    """The model that a request of now would name."""
    async with engine.session() as resident:
        return resident.dialect.model


@contextlib.asynccontextmanager
async def serving(folder: Path, count: int) -> AsyncIterator[CannedServer]:
    """A server that takes so many adapters."""
    async with canned_server(folder / "s.sock", [answer(b"taken")] * count) as server:
        yield server


async def test_an_adapter_is_loaded_once_before_it_is_asked(tmp_path: Path) -> None:
    """Requests name the adapter from its load on and the base after that again; the server hears of it once."""
    terse = adapter(tmp_path)
    async with serving(tmp_path, 1) as server:
        engine = AdaptedEngine(BareEngine(tmp_path / "s.sock"), [terse])
        assert await asked_as(engine) == engine.model == "whole"
        for _ in range(2):
            await engine.load("terse")
            assert await asked_as(engine) == engine.model == engine.snapshot().model == "terse"
            await engine.load("whole")
            assert await asked_as(engine) == engine.model == engine.snapshot().model == "whole"
    assert server.asked == [("/v1/load_lora_adapter", {"lora_name": "terse", "lora_path": str(terse.path)})]


async def test_a_new_life_of_the_engine_knows_it_again(tmp_path: Path) -> None:
    """After a restart of the process the adapter is loaded again, and no request falls back to the base model."""
    async with serving(tmp_path, 2) as server:
        bare = BareEngine(tmp_path / "s.sock")
        engine = AdaptedEngine(bare, [adapter(tmp_path)])
        await engine.load("terse")
        await engine.ready()
        bare.die()
        assert await asked_as(engine) == "terse"
    assert len(server.asked) == 2


async def test_files_that_are_not_there_never_reach_the_engine(tmp_path: Path) -> None:
    """An adapter without files, or with a rank that cannot be, is refused; the model that answers stays."""
    torn = adapter(tmp_path, "torn", '{"r": "many"}')
    async with serving(tmp_path, 0) as server:
        engine = AdaptedEngine(
            BareEngine(tmp_path / "s.sock"), [LoraAdapter("gone", "whole", tmp_path), torn]
        )
        for name in ("gone", "torn"):
            with pytest.raises(LLMError) as refused:
                await engine.load(name)
            assert refused.value.reason == "ADAPTER_UNUSABLE"
            assert await asked_as(engine) == "whole"
    assert server.asked == []


async def test_adapters_are_listed_with_their_base(tmp_path: Path) -> None:
    """Adapters stand beside the models, and only what is asked now is said to be loaded."""
    here, gone = adapter(tmp_path), LoraAdapter("gone", "whole", tmp_path / "gone")
    async with serving(tmp_path, 1):
        engine = AdaptedEngine(BareEngine(tmp_path / "s.sock"), [here, gone])
        await engine.load("terse")
        await engine.ready()
        listed = [
            (model.name, model.base_model, model.present, model.loaded)
            for model in await engine.list_models()
        ]
    assert listed == [
        ("whole", "", True, False),
        ("other", "", True, False),
        ("terse", "whole", True, True),
        ("gone", "whole", False, False),
    ]


async def test_another_base_is_loaded_first(tmp_path: Path) -> None:
    """An adapter brings its base along, whatever was resident; from its rest too."""
    async with serving(tmp_path, 1):
        engine = AdaptedEngine(BareEngine(tmp_path / "s.sock"), [adapter(tmp_path)])
        await engine.load("other")
        await engine.load("terse")
        await engine.unload()
        assert engine.snapshot().model == ""
        await engine.ready()
        assert engine.snapshot().model == "terse"


def test_names_are_unique(tmp_path: Path) -> None:
    """Two adapters of one name are a mistake in the configuration."""
    terse = LoraAdapter("terse", "whole", tmp_path)
    with pytest.raises(InvalidInputError) as refused:
        AdaptedEngine(BareEngine(tmp_path / "s.sock"), [terse, terse])
    assert refused.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize(("ranks", "room"), [((), 16), ((8,), 16), ((20, 8), 32), ((320,), 320)])
def test_room_is_made_for_the_largest(tmp_path: Path, ranks: tuple[int, ...], room: int) -> None:
    """The engine sets aside the smallest rank it knows that holds all adapters whose files are there."""
    adapters = [adapter(tmp_path, f"a{n}", json.dumps({"r": rank})) for n, rank in enumerate(ranks)]
    assert room_for([*adapters, LoraAdapter("gone", "whole", tmp_path)]) == room
