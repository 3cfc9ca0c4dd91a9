"""Plans under a schema, from a tiny model that is free to vary: every engine lets only right ones through."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aeond.ports import LLMAdapter
from tests.support.constrained_plans import counted_plans
from tests.support.engine import running_engine

SOME = range(16)
# A thousand, in pieces that take minutes each.
MANY = [range(first, first + 250) for first in range(0, 1_000, 250)]
MAX_TOKENS = 96
AT_ONCE = 8


@pytest.fixture
async def llama(anyio_backend: str, tmp_path: Path) -> AsyncIterator[LLMAdapter]:
    async with running_engine(tmp_path, slots=AT_ONCE, context_length=512) as running:
        yield running.llm


@pytest.fixture(
    params=[
        pytest.param("llama", marks=pytest.mark.model),
        pytest.param("vllm_engine", marks=[pytest.mark.model, pytest.mark.vllm]),
    ]
)
def llm(request: pytest.FixtureRequest) -> LLMAdapter:
    found: Any = request.getfixturevalue(request.param)
    adapter: LLMAdapter = found if request.param == "llama" else found.llm
    return adapter


@pytest.mark.parametrize(
    "numbers",
    [pytest.param(SOME, id="some"), *(pytest.param(piece, marks=pytest.mark.nightly) for piece in MANY)],
    ids=lambda numbers: f"from {numbers.start}",
)
async def test_only_right_plans_come_through(llm: LLMAdapter, numbers: range) -> None:
    """Each plan that was not cut parses, names only tools that there are and only arguments that they take; each
    that was cut says so."""
    counts = await counted_plans(llm, numbers, at_once=AT_ONCE, max_tokens=MAX_TOKENS)
    assert counts.wrong == []
    assert counts.asked == len(numbers) == counts.whole + counts.cut
    assert counts.whole > len(numbers) // 10
