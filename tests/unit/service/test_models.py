"""Models as clients see and use them."""

import pytest

from aeond.capabilities.llm.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.scripted_engine import ScriptedEngine
from aeond.domain.llm import EngineState, FinishReason, LLMRequest
from aeond.domain.messages import Message, Role
from aeond.errors import NotFoundError, UnavailableError, WrongStateError
from aeond.service.admission import Admission
from aeond.service.models import Models
from tests.support.doubles import ManualClock


class TwoModels(ScriptedEngine):
    """An engine whose catalogue has a second model."""

    async def list_models(self) -> list:  # type: ignore[type-arg]  # as the port says
        from dataclasses import replace

        (resident,) = await super().list_models()
        return [resident, replace(resident, name="another", loaded=False, default=False)]


@pytest.fixture
def admission() -> Admission:
    admission = Admission()
    admission.open()
    return admission


@pytest.fixture
def adapter() -> ScriptedLLM:
    return ScriptedLLM(Script(model="resident", rules=(Rule(text="hello there"),)))


@pytest.fixture
def models(adapter: ScriptedLLM, admission: Admission) -> Models:
    return Models(adapter=adapter, engine=TwoModels(adapter, ManualClock()), admission=admission)


def asking() -> LLMRequest:
    return LLMRequest((Message(Role.USER, "greet me"),), max_tokens=20)


@pytest.mark.parametrize("name", ["", "resident"])
async def test_the_resident_model_writes(models: Models, name: str) -> None:
    """Text of the resident model comes in pieces, the last of which says how it ended."""
    chunks = [chunk async for chunk in models.generate(asking(), name)]
    assert "".join(chunk.text for chunk in chunks) == "hello there"
    assert chunks[-1].finish_reason is FinishReason.STOP


async def test_another_model_has_to_be_loaded_first(models: Models) -> None:
    """A model of the catalogue that is not resident is refused with what to do."""
    with pytest.raises(WrongStateError, match="load that one first") as raised:
        await anext(aiter(models.generate(asking(), "another")))
    assert raised.value.reason == "MODEL_NOT_LOADED"


async def test_an_unknown_model_is_not_found(models: Models) -> None:
    """A name that the catalogue lacks is told apart from one that is not loaded."""
    with pytest.raises(NotFoundError) as raised:
        await anext(aiter(models.generate(asking(), "nobody")))
    assert raised.value.reason == "MODEL_NOT_FOUND"


async def test_a_client_that_leaves_frees_the_engine(models: Models, adapter: ScriptedLLM) -> None:
    """Leaving a stream of text ends the work on it at once."""
    stream = models.generate(asking(), "")
    await anext(aiter(stream))
    assert adapter.in_flight == 1
    await stream.aclose()
    assert adapter.in_flight == 0


async def test_models_are_listed_by_name_page_by_page(models: Models) -> None:
    """A list of models goes on after the last one of the page before."""
    first = await models.list_models(after="", limit=1)
    second = await models.list_models(after=first[-1].name, limit=10)
    assert [model.name for model in (*first, *second)] == ["another", "resident"]


async def test_loading_and_unloading_say_how_the_engine_is(models: Models) -> None:
    """Both return at once with the engine's state."""
    assert (await models.load("")).state is EngineState.READY
    assert (await models.unload()).state is EngineState.COLD


async def test_a_daemon_that_stops_begins_nothing(models: Models, admission: Admission) -> None:
    """While the daemon drains, models can be listed and not used."""
    admission.drain()
    assert await models.list_models(after="", limit=10)
    with pytest.raises(UnavailableError):
        await anext(aiter(models.generate(asking(), "")))
    for change in (models.load(""), models.unload()):
        with pytest.raises(UnavailableError):
            await change
