from aeond.capabilities.embedding.no_embedder import NoEmbedder
from aeond.orchestration.decision.similar_uses import SimilarUses
from aeond.orchestration.prompts.example_uses import EXAMPLE_USES
from tests.support.embedders import WordEmbedder
from tests.support.strategy import ADD, registry, spec, validator

CALCULATE = spec("calculator", {"expression": {"type": "string"}}, ("expression",))


async def test_the_nearest_uses_come_last() -> None:
    """The use that is worded as the request stands next to it."""
    known = next(use for use in EXAMPLE_USES if "calculator" in use.action)
    uses = SimilarUses(WordEmbedder(), validator(CALCULATE), shown=3)
    found = await uses.near(known.request, registry(CALCULATE).specs())
    assert len(found) == 3
    assert found[-1] == known


async def test_only_possible_uses_are_shown() -> None:
    """A use of a tool that the run does not have would be copied in vain."""
    uses = SimilarUses(WordEmbedder(), validator(ADD), shown=50)
    found = await uses.near("Merk dir den Code", registry(ADD).specs())
    assert found
    assert {name for use in found for name in use.action} <= {"answer", "cannot"}


async def test_without_an_embedder_none_are_shown() -> None:
    """The decision is made without them."""
    assert await SimilarUses(NoEmbedder(), validator()).near("Hello", registry().specs()) == ()
