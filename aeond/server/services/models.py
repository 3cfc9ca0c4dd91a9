"""Implementation of ModelService."""

from collections.abc import AsyncIterator

from aeond.api.v1 import models_pb2 as pb
from aeond.concurrency import closing
from aeond.domain.runs.run import Caller
from aeond.ports import Clock
from aeond.ports.embedding import MAX_TEXT_CHARS, MAX_TEXTS
from aeond.server.calls import ModelCalls
from aeond.server.services.administration import require_admin
from aeond.server.streaming import Part
from aeond.server.wire import checks
from aeond.server.wire.pages import page_of, page_size, page_start
from aeond.server.wire.requests import generate_from_wire
from aeond.server.wire.table import to_wire

SCOPE = "models"


class ModelShim:
    def __init__(self, calls: ModelCalls, clock: Clock) -> None:
        self._calls = calls
        self._clock = clock

    async def generate(self, request: pb.GenerateRequest, caller: Caller) -> AsyncIterator[Part]:
        question = generate_from_wire(request, self._clock.time())
        uid = caller.owner.uid
        async with closing(self._calls.generate(question, _model(request.model), uid)) as chunks:
            async for chunk in chunks:
                yield Part(to_wire(chunk, pb.GenerateResponse).SerializeToString())

    async def embed(self, request: pb.EmbedRequest, caller: Caller) -> pb.EmbedResponse:
        checks.at_most(request.texts, "texts", MAX_TEXTS)
        texts = [
            checks.bounded_text(text, f"texts[{index}]", MAX_TEXT_CHARS)
            for index, text in enumerate(request.texts)
        ]
        return to_wire(await self._calls.embed(texts, caller.owner.uid), pb.EmbedResponse)

    async def list_models(self, request: pb.ListModelsRequest, _caller: Caller) -> pb.ListModelsResponse:
        size = page_size(request.page_size)
        found = await self._calls.list_models(after=page_start(request.page_token, SCOPE), limit=size + 1)
        shown, token = page_of(found, size, SCOPE, lambda model: model.name)
        return pb.ListModelsResponse(
            models=[to_wire(model, pb.Model) for model in shown], next_page_token=token
        )

    async def load_model(self, request: pb.LoadModelRequest, caller: Caller) -> pb.LoadModelResponse:
        require_admin(caller, "load a model")
        return pb.LoadModelResponse(engine=to_wire(await self._calls.load(_model(request.model)), pb.Engine))

    async def unload_model(self, _request: pb.UnloadModelRequest, caller: Caller) -> pb.UnloadModelResponse:
        require_admin(caller, "unload the model")
        return pb.UnloadModelResponse(engine=to_wire(await self._calls.unload(), pb.Engine))

    async def sleep_model(self, _request: pb.SleepModelRequest, caller: Caller) -> pb.SleepModelResponse:
        require_admin(caller, "put the model to sleep")
        return pb.SleepModelResponse(engine=to_wire(await self._calls.sleep(), pb.Engine))

    async def wake_model(self, _request: pb.WakeModelRequest, caller: Caller) -> pb.WakeModelResponse:
        require_admin(caller, "wake the model")
        return pb.WakeModelResponse(engine=to_wire(await self._calls.wake(), pb.Engine))


def _model(name: str) -> str:
    return checks.word(name, "model", checks.MAX_NAME_CHARS, optional=True)
