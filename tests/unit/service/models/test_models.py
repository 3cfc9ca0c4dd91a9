"""Models as clients see and use them."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.capabilities.llm.adapters.scripted import Rule, Script, ScriptedLLM
from aeond.capabilities.llm.external.scripted_engine import ScriptedEngine
from aeond.domain.llm import EngineState, FinishReason, LLMRequest, ModelInfo
from aeond.domain.messages import Message, Role
from aeond.errors import LLMError, NotFoundError, OverloadedError, UnavailableError, WrongStateError
from aeond.ports.embedding import Embedder
from aeond.service.models.models import MAX_GENERATING, MAX_WAITING, Models
from aeond.service.runs.admission import Admission
from tests.support.doubles import ManualClock
from tests.support.embedders import WordEmbedder

UID = 7


class Catalogue(ScriptedEngine):
    """An engine with a model that is not on this machine."""

    async def list_models(self) -> Sequence[ModelInfo]:
        known = await super().list_models()
        return (
            *known,
            replace(known[0], name="far", size_bytes=1, present=False, loaded=False, default=False),
        )


@pytest.fixture
def adapter() -> ScriptedLLM:
    rules = (Rule(contains="never", stall=True), Rule(text="hello there"))
    return ScriptedLLM(Script(model="resident", models=("another",), sleeps=True, rules=rules))


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def models(adapter: ScriptedLLM, admission: Admission, asked: list[str]) -> Models:
    """The service, whose adapter is noted in `asked` for."""
    engine = Catalogue(adapter, ManualClock())

    def llm_of(name: str) -> ScriptedLLM:
        asked.append(name)
        return adapter

    return Models(llm_of=llm_of, engine=engine, embedder=WordEmbedder(), admission=admission)


def asking(text: str = "greet me", deadline_seconds: float = 60.0) -> LLMRequest:
    return LLMRequest((Message(Role.USER, text),), max_tokens=20, deadline_seconds=deadline_seconds)


@pytest.mark.parametrize("name", ["", "resident", "another"])
async def test_the_named_model_writes(models: Models, asked: list[str], name: str) -> None:
    """Text of the model that is named comes in pieces, the last of which says how it ended."""
    chunks = [chunk async for chunk in models.generate(asking(), name, UID)]
    assert "".join(chunk.text for chunk in chunks) == "hello there"
    assert chunks[-1].finish_reason is FinishReason.STOP
    assert asked == [name]


async def test_a_model_that_is_not_here_is_not_fetched_by_a_request(models: Models) -> None:
    """A model that would have to be downloaded first is refused with what to do."""
    with pytest.raises(WrongStateError, match="models load far") as raised:
        await anext(aiter(models.generate(asking(), "far", UID)))
    assert raised.value.reason == "MODEL_NOT_PRESENT"


async def test_the_deadline_bounds_everything(models: Models) -> None:
    """A call that is not answered by its deadline ends, whatever it waits for."""
    with pytest.raises(LLMError) as failed:
        await anext(aiter(models.generate(asking("never", deadline_seconds=0.01), "", UID)))
    assert failed.value.reason == "DEADLINE_EXCEEDED"


async def test_an_unknown_model_is_not_found(models: Models) -> None:
    """An unknown model is distinguished from one that is not downloaded."""
    with pytest.raises(NotFoundError) as raised:
        await anext(aiter(models.generate(asking(), "unknown-model", UID)))
    assert raised.value.reason == "MODEL_NOT_FOUND"


async def test_a_client_that_leaves_frees_the_engine(models: Models, adapter: ScriptedLLM) -> None:
    """Leaving a stream of text ends the work on it at once."""
    stream = models.generate(asking(), "", UID)
    await anext(aiter(stream))
    assert adapter.in_flight == 1
    await stream.aclose()
    assert adapter.in_flight == 0


async def test_a_user_with_many_requests_delays_no_other(models: Models, adapter: ScriptedLLM) -> None:
    """The engine gets a few requests of each user; more of them wait, a bounded number, and those of others do not."""

    async def ask() -> None:
        async for _ in models.generate(asking("never"), "", UID):
            pass

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(MAX_GENERATING + MAX_WAITING):
                group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert adapter.in_flight == MAX_GENERATING
            with pytest.raises(OverloadedError) as refused:
                await anext(aiter(models.generate(asking(), "", UID)))
            assert refused.value.reason == "MODEL_QUEUE_FULL"
            assert [chunk async for chunk in models.generate(asking(), "", UID + 1)]
            group.cancel_scope.cancel()
    assert adapter.in_flight == 0


async def test_a_request_that_waits_for_its_users_others_has_a_deadline(models: Models) -> None:
    """The time in which a request waits for a place of its user counts."""
    for _ in range(MAX_GENERATING):
        models.generating.acquire_nowait(UID)
    with pytest.raises(LLMError) as failed:
        await anext(aiter(models.generate(asking(deadline_seconds=0.01), "", UID)))
    assert failed.value.reason == "DEADLINE_EXCEEDED"


async def test_texts_of_one_user_are_embedded_one_request_at_a_time(models: Models) -> None:
    """Of one user the embedding model has one request at a time, and a bounded number waits."""
    models.embedding.acquire_nowait(UID)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(MAX_WAITING):
                group.start_soon(models.embed, ["a"], UID)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(OverloadedError) as refused:
                await models.embed(["a"], UID)
            assert refused.value.reason == "EMBEDDER_BUSY"
            assert (await models.embed(["a"], UID + 1)).embeddings
            models.embedding.release(UID)


async def test_models_are_listed_by_name_page_by_page(models: Models) -> None:
    """A list of models goes on after the last one of the page before."""
    first = await models.list_models(after="", limit=1)
    second = await models.list_models(after=first[-1].name, limit=10)
    assert [model.name for model in (*first, *second)] == ["another", "far", "resident"]


async def test_loading_and_unloading_say_how_the_engine_is(models: Models) -> None:
    """Both return at once with the engine's state."""
    assert (await models.load("")).state is EngineState.READY
    assert (await models.unload()).state is EngineState.COLD
    assert (await models.load("another")).model == "another"
    assert (await models.sleep()).state is EngineState.ASLEEP
    assert (await models.wake()).state is EngineState.READY


async def test_a_daemon_that_stops_begins_nothing(models: Models, admission: Admission) -> None:
    """While the daemon drains, models can be listed and not used."""
    admission.drain()
    assert await models.list_models(after="", limit=10)
    with pytest.raises(UnavailableError):
        await anext(aiter(models.generate(asking(), "", UID)))
    for change in (models.load(""), models.unload(), models.sleep(), models.wake()):
        with pytest.raises(UnavailableError):
            await change


@pytest.mark.parametrize(
    ("embedder", "vectors"),
    [(WordEmbedder(), 2), (WordEmbedder(available=False), None), (NoEmbedder(), None)],
)
async def test_texts_have_vectors_where_there_is_an_embedding_model(
    adapter: ScriptedLLM, admission: Admission, embedder: Embedder, vectors: int | None
) -> None:
    """Each text has a vector, and without texts the model is named; without a model the error says how to get one."""
    engine = Catalogue(adapter, ManualClock())
    models = Models(llm_of=lambda _: adapter, engine=engine, embedder=embedder, admission=admission)
    if vectors is None:
        for texts in (["a"], []):
            with pytest.raises(WrongStateError, match=r"embedding\.enabled"):
                await models.embed(texts, UID)
        return
    found = await models.embed(["red", "blue"], UID)
    assert (found.model, len(found.embeddings)) == ("words", vectors)
    assert found.embeddings[0] != found.embeddings[1]
    assert (await models.embed([], UID)).embeddings == ()


async def test_a_model_that_has_gone_is_missing(adapter: ScriptedLLM, admission: Admission) -> None:
    """Weights that turn out to be damaged when they are used are missing weights."""
    embedder = WordEmbedder()
    embedder.gives = False
    models = Models(
        llm_of=lambda _: adapter,
        engine=Catalogue(adapter, ManualClock()),
        embedder=embedder,
        admission=admission,
    )
    with pytest.raises(WrongStateError):
        await models.embed(["a"], UID)
