"""Plans under a schema, from a tiny model that is free to vary: every engine lets only right ones through."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aeond.ports import LLMAdapter
from tests.support.constrained_plans import counted_plans
from tests.support.engine import running_engine

SOME, MANY = 16, 1_000
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
    "count", [SOME, pytest.param(MANY, marks=pytest.mark.nightly)], ids=["some", "a thousand"]
)
async def test_only_right_plans_come_through(llm: LLMAdapter, count: int) -> None:
    """Each plan that was not cut parses, names only tools that there are and only arguments that they take; each
    that was cut says so."""
    counts = await counted_plans(llm, count, at_once=AT_ONCE, max_tokens=MAX_TOKENS)
    assert counts.wrong == []
    assert counts.asked == count == counts.whole + counts.cut
    assert counts.whole > count // 10
