"""all-MiniLM-L6-v2 as arithmetic: six transformer layers, mean pooling, unit length.

Of the weights only the layers are kept in memory, in one block (43 MB); the rows of the table of words are read from
the file as they are needed. The file is not mapped into memory: if it became shorter, that would kill the process.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aeond.capabilities.embedding.wordpiece import WordPiece, read_vocabulary
from aeond.errors import LLMError
from aeond.ports.embedding import MAX_TEXT_CHARS, Vector

Array = NDArray[np.float32]

DIMENSIONS: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
HEAD: Final = DIMENSIONS // HEADS
MAX_TOKENS: Final = 256  # what the model was trained to read
BATCH_TOKENS: Final = 384  # how many tokens go through the layers together
MAX_HEADER_BYTES: Final = 1 << 20
_EPSILON: Final = np.float32(1e-12)
_EMBEDDINGS: Final = "embeddings."
_WORDS: Final = f"{_EMBEDDINGS}word_embeddings.weight"
MAX_TENSOR_BYTES: Final = 4 << 20
# The matrices of a layer, transposed: query, key and value side by side; output; the two of the inner network.
SHAPES: Final = (
    (DIMENSIONS, 3 * DIMENSIONS),
    (DIMENSIONS, DIMENSIONS),
    (DIMENSIONS, 4 * DIMENSIONS),
    (4 * DIMENSIONS, DIMENSIONS),
)

Check = Callable[[], None]  # raises if the work is no longer wanted


class MiniLm:
    """The loaded model. Not for two threads at once. `close` releases the file."""

    def __init__(self, weights: Path, vocabulary: Path) -> None:
        """Raises OSError, and LLMError (reason MODEL_DAMAGED) if a file is not what it should be."""
        self._tokens = WordPiece(read_vocabulary(vocabulary))
        with ExitStack() as opened:
            self._file = opened.enter_context(weights.open("rb", buffering=0))
            self._load(weights)
            opened.pop_all()  # from here on the file stays open until `close`

    def _load(self, weights: Path) -> None:
        try:
            file = _File(self._file.fileno())
            self._words_at, self._word_count = file.words_at, file.word_count
            before = file.tensors(_EMBEDDINGS)
            self._first = before[f"{_EMBEDDINGS}position_embeddings.weight"][:MAX_TOKENS]
            self._first = self._first + before[f"{_EMBEDDINGS}token_type_embeddings.weight"][0]
            self._norm = tuple(before[f"{_EMBEDDINGS}LayerNorm.{part}"] for part in ("weight", "bias"))
            room = _room()
            prefixes = [f"encoder.layer.{number}." for number in range(LAYERS)]
            self._layers = [_Layer(file.tensors(prefix), prefix, room) for prefix in prefixes]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LLMError(f"{weights} is not all-MiniLM-L6-v2", reason="MODEL_DAMAGED") from error

    def close(self) -> None:
        self._file.close()

    def embed(self, texts: Sequence[str], check: Check) -> list[Vector]:
        """Unit vectors; calls `check` between layers."""
        encoded = [self._tokens.encode(text[:MAX_TEXT_CHARS], MAX_TOKENS) for text in texts]
        vectors: list[Vector] = []
        start = 0
        while start < len(encoded):
            end, tokens = start, 0
            while end < len(encoded) and (end == start or tokens + len(encoded[end]) <= BATCH_TOKENS):
                tokens += len(encoded[end])
                end += 1
            vectors += self._vectors(encoded[start:end], check)
            start = end
        return vectors

    def _vectors(self, encoded: Sequence[Sequence[int]], check: Check) -> list[Vector]:
        """All tokens go through the layers as one table without padding; only attention looks at each text."""
        ends = np.cumsum([len(ids) for ids in encoded]).tolist()
        bounds = list(zip([0, *ends[:-1]], ends, strict=True))
        state = np.empty((ends[-1], DIMENSIONS), dtype=np.float32)
        for ids, (start, end) in zip(encoded, bounds, strict=True):
            state[start:end] = self._rows(ids)
            state[start:end] += self._first[: end - start]
        state = _normed(state, *self._norm)
        for layer in self._layers:
            check()
            state = layer.apply(state, bounds)
        vectors: list[Vector] = []
        for start, end in bounds:
            mean = state[start:end].mean(axis=0, dtype=np.float64)
            vectors.append(tuple((mean / np.linalg.norm(mean)).tolist()))
        return vectors

    def _rows(self, ids: Sequence[int]) -> Array:
        """The rows of the table of words, read from the file."""
        size = DIMENSIONS * 4
        rows = bytearray()
        for number in ids:
            row = os.pread(self._file.fileno(), size, self._words_at + number * size)
            if len(row) != size or number >= self._word_count:
                raise LLMError("the file of the embedding model is too short", reason="MODEL_DAMAGED")
            rows += row
        return np.frombuffer(rows, dtype="<f4").reshape(len(ids), DIMENSIONS)


class _Layer:
    """One transformer layer. Its matrices are kept transposed, which is how they are multiplied, in `room`."""

    def __init__(self, weights: Mapping[str, Array], prefix: str, room: Iterator[Array]) -> None:
        def norm(name: str) -> tuple[Array, Array]:
            return weights[f"{prefix}{name}.weight"].copy(), weights[f"{prefix}{name}.bias"].copy()

        def linear(*names: str) -> tuple[Array, Array]:
            matrix = next(room)
            parts = [weights[f"{prefix}{name}.weight"].T for name in names]
            np.concatenate(parts, axis=1, out=matrix)
            return matrix, np.concatenate([weights[f"{prefix}{name}.bias"] for name in names])

        self._inputs = linear(*(f"attention.self.{name}" for name in ("query", "key", "value")))
        self._output, self._output_norm = linear("attention.output.dense"), norm("attention.output.LayerNorm")
        self._inner, self._outer = linear("intermediate.dense"), linear("output.dense")
        self._norm = norm("output.LayerNorm")

    def apply(self, state: Array, bounds: Sequence[tuple[int, int]]) -> Array:
        inputs = _linear(state, *self._inputs)
        attended = np.empty_like(state)
        for start, end in bounds:
            attended[start:end] = _attention(inputs[start:end])
        state = _normed(_linear(attended, *self._output) + state, *self._output_norm)
        inner = _gelu(_linear(state, *self._inner))
        return _normed(_linear(inner, *self._outer) + state, *self._norm)


def _room() -> Iterator[Array]:
    """The places of all matrices in one block, which the allocator returns to the system as a whole."""
    shapes = [shape for _ in range(LAYERS) for shape in SHAPES]
    block = np.empty(sum(rows * columns for rows, columns in shapes), dtype=np.float32)
    start = 0
    for rows, columns in shapes:
        yield block[start : start + rows * columns].reshape(rows, columns)
        start += rows * columns


def _linear(state: Array, weight: Array, bias: Array) -> Array:
    result: Array = state @ weight
    result += bias
    return result


def _attention(inputs: Array) -> Array:
    """Query, key and value stand side by side in `inputs`."""
    tokens = len(inputs)
    query, key, value = inputs.reshape(tokens, 3, HEADS, HEAD).transpose(1, 2, 0, 3)
    scores: Array = query @ key.transpose(0, 2, 1)
    scores *= np.float32(HEAD**-0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed: Array = (scores @ value).transpose(1, 0, 2).reshape(tokens, DIMENSIONS)
    return mixed


def _normed(state: Array, weight: Array, bias: Array) -> Array:
    state = state - state.mean(axis=-1, keepdims=True)
    state /= np.sqrt((state * state).mean(axis=-1, keepdims=True) + _EPSILON)
    state *= weight
    state += bias
    return state


def _gelu(values: Array) -> Array:
    """x/2 (1 + erf(x/sqrt 2)), with erf by Abramowitz and Stegun 7.1.26 (error below 2e-7)."""
    scaled = np.abs(values) * np.float32(0.7071067811865476)
    t = np.float32(1) / (np.float32(0.3275911) * scaled + np.float32(1))
    series: Array = np.full(t.shape, 1.061405429, dtype=np.float32)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= t
        series += np.float32(factor)
    series *= t
    series *= np.exp(-scaled * scaled)
    erf: Array = np.copysign(np.float32(1) - series, values)
    result: Array = values * np.float32(0.5) * (erf + np.float32(1))
    return result


class _File:
    """A safetensors file: eight bytes with the length of a JSON header, the header, the data."""

    def __init__(self, descriptor: int) -> None:
        """Raises ValueError, KeyError, TypeError or AttributeError if it is not the file of this model."""
        self._descriptor = descriptor
        length = int.from_bytes(os.pread(descriptor, 8, 0), "little")
        if not 0 < length <= MAX_HEADER_BYTES:
            raise ValueError("no header")
        self._header = json.loads(os.pread(descriptor, length, 8))
        self._base = 8 + length
        self.word_count, width = self._header[_WORDS]["shape"]
        if width != DIMENSIONS:
            raise ValueError("another model")
        self.words_at = self._base + self._header[_WORDS]["data_offsets"][0]

    def tensors(self, prefix: str) -> dict[str, Array]:
        """Those whose names start so, without the table of words."""
        names = [name for name in self._header if name.startswith(prefix) and name != _WORDS]
        return {name: self._tensor(self._header[name]) for name in names if "position_ids" not in name}

    def _tensor(self, place: Mapping[str, Any]) -> Array:
        start, end = place["data_offsets"]
        if place["dtype"] != "F32" or not 0 <= end - start <= MAX_TENSOR_BYTES:
            raise ValueError("another model")
        data = os.pread(self._descriptor, end - start, self._base + start)
        return np.frombuffer(data, dtype="<f4").reshape(place["shape"])
