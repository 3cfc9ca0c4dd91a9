"""The paths of the API."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aeond.facades.openai import embeddings, engine, requests, runs
from aeond.facades.openai.chat import ChatForm
from aeond.facades.openai.conversations import Conversations
from aeond.facades.openai.delivery import Delivery, failure
from aeond.facades.openai.failures import ApiError, of_daemon
from aeond.facades.openai.parts import Part, Prompt, Started
from aeond.facades.openai.responses import ResponsesForm
from aeond_client import AsyncClient
from aeond_client.errors import AeondError

RUNS: Final = "aeond"
"""The model whose answers are runs."""
Clock = Callable[[], float]
NewId = Callable[[], str]


def openai_app(socket: str, clock: Clock, new_id: NewId) -> Starlette:
    """The application over the daemon at `socket` ("": the usual ones), which each request finds again. `clock` returns
    Unix time in seconds, `new_id` a unique id.
    """
    api = _Api(socket, clock, new_id)
    return Starlette(
        routes=[
            Route("/v1/models", api.models),
            Route("/v1/models/{name:path}", api.model),
            Route("/v1/chat/completions", api.chat, methods=["POST"]),
            Route("/v1/responses", api.responses, methods=["POST"]),
            Route("/v1/embeddings", api.embeddings, methods=["POST"]),
        ],
        exception_handlers=dict.fromkeys((ApiError, AeondError, HTTPException, Exception), _answer_error),
    )


class _Api:
    def __init__(self, socket: str, clock: Clock, new_id: NewId) -> None:
        self._socket = socket
        self._clock = clock
        self._new_id = new_id
        self._conversations = Conversations(clock)

    async def models(self, _request: Request) -> Response:
        """The downloaded models, the embedding model, and `aeond`."""
        return JSONResponse({"object": "list", "data": await self._listed()})

    async def model(self, request: Request) -> Response:
        name = request.path_params["name"]
        for one in await self._listed():
            if one["id"] == name:
                return JSONResponse(one)
        raise ApiError(404, "model_not_found", f"There is no model {name!r}.", param="model")

    async def chat(self, request: Request) -> Response:
        given = requests.read(requests.ChatRequest, await request.body())
        parts = self._answered(given.prompt(_request_id(request)))
        return Delivery(
            parts, ChatForm(given.model, wants_usage=given.wants_usage), stream=bool(given.stream)
        )

    async def responses(self, request: Request) -> Response:
        given = requests.read(requests.ResponsesRequest, await request.body())
        parts = self._answered(given.prompt(_request_id(request)))
        return Delivery(parts, ResponsesForm(given), stream=bool(given.stream))

    async def embeddings(self, request: Request) -> Response:
        given = requests.read(embeddings.EmbeddingsRequest, await request.body())
        async with AsyncClient(self._socket) as client:
            return JSONResponse(await embeddings.embedded(client, given))

    async def _listed(self) -> list[dict[str, Any]]:
        async with AsyncClient(self._socket) as client:
            names = [one.name for one in await client.list_models() if one.present or not one.size_bytes]
            names += filter(None, [await embeddings.model_name(client)])
        created = int(self._clock())
        return [
            {"id": name, "object": "model", "created": created, "owned_by": "aeond"}
            for name in (RUNS, *names)
        ]

    async def _answered(self, prompt: Prompt) -> AsyncGenerator[Part, None]:
        async with AsyncClient(self._socket) as client:
            if prompt.model == RUNS:
                parts = runs.answered(client, prompt, self._conversations)
            else:
                started = Started(self._new_id(), int(self._clock()))
                parts = engine.answered(client, prompt, started)
            async with aclosing(parts) as made:
                async for part in made:
                    yield part


def _request_id(request: Request) -> str:
    """Names the run of a repeated request; without this header each request makes another."""
    return request.headers.get("idempotency-key", "")[:200]


async def _answer_error(request: Request, error: Exception) -> Response:
    match error:
        case ApiError():
            return failure(error)
        case AeondError():
            return failure(of_daemon(error))
        case HTTPException(status_code=status):
            code = "unknown_url" if status == 404 else "method_not_allowed"
            message = f"{request.method} {request.url.path} is not served here."
            return failure(ApiError(status, code, message))
        case _:
            return failure(ApiError(500, "internal", "The server has a fault, which its log describes."))
