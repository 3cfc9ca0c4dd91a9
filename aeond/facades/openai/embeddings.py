"""Texts as vectors, by the embedding model of the daemon."""

import base64
import struct
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from aeond.facades.openai.failures import ApiError, unsupported
from aeond_client import AsyncClient
from aeond_client.errors import WrongStateError

MAX_TEXTS = 512
MAX_TEXT_CHARS = 4_000

Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
Texts = Annotated[
    list[Text],
    Field(min_length=1, max_length=MAX_TEXTS),
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
]


class EmbeddingsRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    model: str = Field(min_length=1, max_length=200)
    input: Texts
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


async def model_name(client: AsyncClient) -> str:
    """The name of the embedding model; "" if the daemon has none. AeondError."""
    try:
        return (await client.embed([])).model
    except WrongStateError:
        return ""


async def embedded(client: AsyncClient, request: EmbeddingsRequest) -> dict[str, Any]:
    """The list of vectors, in the order of the texts. AeondError; ApiError for a model that embeds nothing."""
    name = await model_name(client)
    if request.model != name:
        known = f"The embedding model is {name!r}." if name else "The daemon has no embedding model."
        raise ApiError(404, "model_not_found", known, param="model")
    found = await client.embed(request.input)
    vectors = [one.values for one in found.embeddings]
    if request.dimensions not in {None, len(vectors[0])}:
        raise unsupported(f"Vectors of {name} have {len(vectors[0])} dimensions.", "dimensions")
    shown = as_base64 if request.encoding_format == "base64" else list
    return {
        "object": "list",
        "model": name,
        "data": [
            {"object": "embedding", "index": index, "embedding": shown(vector)}
            for index, vector in enumerate(vectors)
        ],
        # The embedding model is not metered.
        "usage": {"prompt_tokens": 0, "total_tokens": 0},
    }


def as_base64(vector: Sequence[float]) -> str:
    """The vector as clients of the API read it: 32-bit floats, the lowest byte first."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
