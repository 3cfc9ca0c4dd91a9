"""Texts as vectors in the form of the OpenAI API."""

import base64
import json
import struct
from typing import Any

import pytest

from aeond.facades.openai.embeddings import EmbeddingsRequest, as_base64
from aeond.facades.openai.failures import ApiError
from aeond.facades.openai.requests import read


def test_base64_holds_the_floats() -> None:
    """The floats of a vector are packed with 32 bits each, the lowest byte first."""
    packed = base64.b64decode(as_base64((0.5, -1.0)))
    assert struct.unpack("<2f", packed) == (0.5, -1.0)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": [1, 2]}, "input.0"),
        ({"input": "x" * 4_001}, "input.0"),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format"),
        ({"model": "", "input": "x"}, "model"),
    ],
)
def test_an_invalid_embedding_request_is_rejected(fields: dict[str, Any], param: str) -> None:
    """Requests without texts, with tokens in place of texts, or with too much of them name the parameter."""
    with pytest.raises(ApiError) as caught:
        read(EmbeddingsRequest, json.dumps({"model": "m", **fields}).encode())
    assert (caught.value.code, caught.value.param) == ("invalid_value", param)
