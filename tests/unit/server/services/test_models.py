from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from aeond.api.v1 import models_pb2, sessions_pb2
from aeond.domain.llm import Priority
from aeond.domain.messages import Role
from tests.support.api_world import ApiWorld, Stubs, refused

USER = sessions_pb2.Message(role=sessions_pb2.ROLE_USER, content_json='"hello"')


async def test_an_answer_comes_in_pieces_with_its_cost_last(world: ApiWorld, client: Stubs) -> None:
    """The pieces put together are the text; the last one has the reason to stop and the token counts."""
    request = models_pb2.GenerateRequest(messages=[USER])
    pieces = [piece async for piece in client.models.Generate(request)]
    assert [piece.text for piece in pieces] == ["It", "is", "420.", ""]
    assert pieces[-1].finish_reason == models_pb2.FINISH_REASON_STOP
    usage = pieces[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (7, 3, 3)
    (question,) = world.behind.models.questions
    assert (question.max_tokens, question.temperature, question.seed) == (512, 0.0, None)
    assert (question.schema, question.stop, question.deadline_seconds) == (None, (), 300.0)
    assert question.priority is Priority.INTERACTIVE
    assert question.messages[0].timestamp == datetime.fromtimestamp(1_790_000_000, UTC)


async def test_everything_asked_for_reaches_the_model(world: ApiWorld, client: Stubs) -> None:
    """Nothing of a question is lost on its way."""
    system = sessions_pb2.Message(
        role=sessions_pb2.ROLE_SYSTEM,
        content_json='{"rule": 1}',
        metadata_json='{"k": "v"}',
        time=Timestamp(seconds=5),
    )
    request = models_pb2.GenerateRequest(
        messages=[system, USER],
        max_tokens=9,
        temperature=0.5,
        seed=0,
        stop=["END"],
        schema_json='{"type": "string"}',
        priority=models_pb2.PRIORITY_BACKGROUND,
        deadline_seconds=1.5,
        model="small",
    )
    async for _ in client.models.Generate(request):
        pass
    (question,) = world.behind.models.questions
    assert [message.role for message in question.messages] == [Role.SYSTEM, Role.USER]
    assert question.messages[0].content == {"rule": 1}
    assert question.messages[0].metadata == {"k": "v"}
    assert question.messages[0].timestamp == datetime.fromtimestamp(5, UTC)
    assert (question.max_tokens, question.temperature, question.seed) == (9, 0.5, 0)
    assert (question.schema, question.stop) == ({"type": "string"}, ("END",))
    assert (question.priority, question.deadline_seconds) == (Priority.BACKGROUND, 1.5)


@pytest.mark.parametrize(
    ("request_", "reason", "field"),
    [
        (models_pb2.GenerateRequest(), "EMPTY", "messages"),
        (models_pb2.GenerateRequest(messages=[USER] * 257), "TOO_MANY", "messages"),
        (
            models_pb2.GenerateRequest(messages=[USER, sessions_pb2.Message(content_json='""')]),
            "UNKNOWN_VALUE",
            "messages[1].role",
        ),
        (
            models_pb2.GenerateRequest(
                messages=[sessions_pb2.Message(role=sessions_pb2.ROLE_USER, content_json="hello")]
            ),
            "INVALID_JSON",
            "messages[0].content_json",
        ),
        (
            models_pb2.GenerateRequest(
                messages=[
                    sessions_pb2.Message(
                        role=sessions_pb2.ROLE_USER, content_json="1", time=Timestamp(seconds=1 << 60)
                    )
                ]
            ),
            "OUT_OF_RANGE",
            "messages[0].time",
        ),
        (models_pb2.GenerateRequest(messages=[USER], max_tokens=-1), "OUT_OF_RANGE", "max_tokens"),
        (models_pb2.GenerateRequest(messages=[USER], temperature=2.1), "OUT_OF_RANGE", "temperature"),
        (models_pb2.GenerateRequest(messages=[USER], stop=[""]), "EMPTY", "stop[0]"),
        (models_pb2.GenerateRequest(messages=[USER], schema_json="[]"), "NOT_AN_OBJECT", "schema_json"),
        (
            models_pb2.GenerateRequest(messages=[USER], deadline_seconds=-1),
            "OUT_OF_RANGE",
            "deadline_seconds",
        ),
        (models_pb2.GenerateRequest(messages=[USER], model="a\nb"), "UNPRINTABLE", "model"),
    ],
)
async def test_a_question_out_of_form_is_refused(
    world: ApiWorld, client: Stubs, request_: models_pb2.GenerateRequest, reason: str, field: str
) -> None:
    """A question that cannot be asked is INVALID_ARGUMENT with its field and never reaches the model."""
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, reason, field):
        async for _ in client.models.Generate(request_):
            pass
    assert world.behind.models.questions == []


async def test_leaving_an_answer_frees_the_model(world: ApiWorld, client: Stubs) -> None:
    """A client that cancels in the middle closes the service's iterator."""
    world.behind.models.text = " ".join(["word"] * 1_000_000)
    call = client.models.Generate(models_pb2.GenerateRequest(messages=[USER]))
    await call.read()
    call.cancel()
    await world.behind.models.closed.wait()


async def test_models_are_listed_loaded_and_unloaded(client: Stubs, admin: Stubs) -> None:
    """The catalogue is paged; loading answers at once with the engine's state, and so does unloading."""
    first = await client.models.ListModels(models_pb2.ListModelsRequest(page_size=1))
    last = await client.models.ListModels(
        models_pb2.ListModelsRequest(page_size=1, page_token=first.next_page_token)
    )
    assert [model.name for model in (*first.models, *last.models)] == ["large", "small"]
    assert last.models[0].metadata_json == '{"quantised":true}'
    loading = (await admin.models.LoadModel(models_pb2.LoadModelRequest(model="large"))).engine
    assert (loading.state, loading.model) == (models_pb2.ENGINE_STATE_STARTING, "large")
    assert (loading.activity, loading.progress) == ("loading", 0.5)
    gone = (await admin.models.UnloadModel(models_pb2.UnloadModelRequest())).engine
    assert gone.state == models_pb2.ENGINE_STATE_COLD
    async with refused(grpc.StatusCode.NOT_FOUND, "MODEL_NOT_FOUND"):
        await admin.models.LoadModel(models_pb2.LoadModelRequest(model="none"))
    async with refused(grpc.StatusCode.NOT_FOUND, "MODEL_NOT_FOUND"):
        async for _ in client.models.Generate(models_pb2.GenerateRequest(messages=[USER], model="small!")):
            pass


async def test_the_engine_sleeps_and_wakes(admin: Stubs) -> None:
    """Sleeping says what became of the engine, waking begins at once, and an engine at work is a wrong state."""
    asleep = (await admin.models.SleepModel(models_pb2.SleepModelRequest())).engine
    assert asleep.state == models_pb2.ENGINE_STATE_ASLEEP
    waking = (await admin.models.WakeModel(models_pb2.WakeModelRequest())).engine
    assert (waking.state, waking.activity) == (models_pb2.ENGINE_STATE_STARTING, "waking")
    async with refused(grpc.StatusCode.FAILED_PRECONDITION, "ENGINE_BUSY"):
        await admin.models.SleepModel(models_pb2.SleepModelRequest())


async def test_only_the_administrative_socket_loads_and_unloads(world: ApiWorld, client: Stubs) -> None:
    """On the main socket the model stays as it is: every user who could connect used to be able to unload it."""
    before = world.behind.models.engine
    changes: list[tuple[Any, Any]] = [
        (client.models.LoadModel, models_pb2.LoadModelRequest(model="large")),
        (client.models.UnloadModel, models_pb2.UnloadModelRequest()),
        (client.models.SleepModel, models_pb2.SleepModelRequest()),
        (client.models.WakeModel, models_pb2.WakeModelRequest()),
    ]
    for change, request in changes:
        async with refused(grpc.StatusCode.PERMISSION_DENIED, "ADMIN_ONLY"):
            await change(request)
    assert world.behind.models.engine == before


async def test_texts_have_vectors_in_their_order(client: Stubs) -> None:
    """Each text has a vector, and the reply names the model."""
    reply = await client.models.Embed(models_pb2.EmbedRequest(texts=["a", "abc"]))
    assert reply.model == "letters"
    assert [list(one.values) for one in reply.embeddings] == [[1.0, 0.5], [3.0, 0.5]]
    assert not (await client.models.Embed(models_pb2.EmbedRequest())).embeddings


@pytest.mark.parametrize(
    ("texts", "reason", "where"),
    [(["a"] * 513, "TOO_MANY", "texts"), (["a", "b" * 4_001], "TOO_LONG", "texts[1]")],
)
async def test_texts_to_embed_are_bounded(client: Stubs, texts: list[str], reason: str, where: str) -> None:
    """Too many texts and too long ones are refused, with the path of the field."""
    async with refused(grpc.StatusCode.INVALID_ARGUMENT, reason, where):
        await client.models.Embed(models_pb2.EmbedRequest(texts=texts))
