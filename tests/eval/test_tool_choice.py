"""The measurement of the tools that are shown of many: its data, and a bound for its result."""

import pytest

from aeond.capabilities.embedding.no_embedder import NoEmbedder
from tests.eval.tool_choice import REQUESTS, TOOLS, places
from tests.support.embedders import real_embedder


def test_each_request_is_for_one_of_the_tools() -> None:
    """There are 200 tools, and 60 requests for different ones of them."""
    assert (len(TOOLS), len(REQUESTS)) == (200, 60)
    assert {tool for _, tool in REQUESTS} <= {spec.name for spec in TOOLS}
    assert len({tool for _, tool in REQUESTS}) == len(REQUESTS)


async def test_without_an_embedding_model_words_find_some() -> None:
    """The measurement by words is deterministic."""
    assert sum(shown for _, _, shown in await places(NoEmbedder())) == 21


@pytest.mark.model
async def test_by_meaning_most_tools_are_shown() -> None:
    """The figure of docs/orchestration.md, less a margin for other versions of the numerical libraries."""
    async with real_embedder() as embedder:
        assert sum(shown for _, _, shown in await places(embedder)) >= 51
